# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of draw_prose.py: the same seed draws the same texts, another seed others; there are texts of every kind."""
import unittest

import check_prose
import draw_prose


class Draw(unittest.TestCase):
    def test_a_seed_draws_the_same_whatever_the_order(self):
        items = [(str(number), "text") for number in range(100)]
        self.assertEqual(draw_prose.draw(items, 5, "a"), draw_prose.draw(reversed(items), 5, "a"))
        self.assertNotEqual(draw_prose.draw(items, 5, "a"), draw_prose.draw(items, 5, "b"))

    def test_a_draw_of_few_is_all_of_them(self):
        self.assertEqual(draw_prose.draw([("a", "b")], 40, "a"), [("a", "b")])

    def test_every_kind_is_found(self):
        for find in (draw_prose.comments, draw_prose.page_sentences, draw_prose.help_lines, draw_prose.errors):
            self.assertGreater(sum(1 for _ in find(check_prose.ROOT)), 100, find.__name__)

    def test_the_arguments_of_a_call_are_told_apart(self):
        call = 'error_text("a.b", name(x, y), "one, two)" + z, Set{1, 2});'
        self.assertEqual(draw_prose.arguments(call, len("error_text(")),
                         ['"a.b"', "name(x, y)", '"one, two)" + z', "Set{1, 2}"])

    def test_an_error_is_shown_as_a_user_sees_it(self):
        self.assertEqual(draw_prose.shown('"a file in " + plan.folder + ", no " "link"'), "a file in <folder>, no link")
        self.assertEqual(draw_prose.shown('std::string(count)'), "<count>")
        self.assertEqual(draw_prose.shown('"got " + first_names(labels, labels.size())'), "got <labels>")
        self.assertEqual(draw_prose.shown('fmt::format("{} of {}", counted(shared, "image"), rows.size())'),
                         "<shared> images of <rows>")
        self.assertEqual(draw_prose.shown('counted(n, "box", "boxes") + plural(n, " differs", " differ")'),
                         "<n> boxes differ")
        self.assertEqual(draw_prose.shown('"one of " + fmt::format("{}", fmt::join(model_names(), ", "))'),
                         "one of <model_names>")

    def test_of_two_texts_the_first_is_shown(self):
        self.assertEqual(draw_prose.shown('names.empty() ? "none" : "only " + names.front()'), "none")
        self.assertEqual(draw_prose.shown('"a" + (is_b ? " b" : is_c ? " c" : " d") + std::string(e)'), "a b<e>")
        self.assertEqual(draw_prose.shown('fmt::format("{} in {}", is_one ? "one" : "two", dist::own_host())'),
                         "one in <own_host>")

    def test_constants_are_shown_with_their_text(self):
        code = 'constexpr std::string_view kRemedy = "a copy "\n    "of the file";\nrefuse("a", kRemedy);'
        self.assertIn('refuse("a", "a copy "     "of the file")', draw_prose.with_constants(code))


if __name__ == "__main__":
    unittest.main()
