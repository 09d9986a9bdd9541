# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of check_prose.py on small texts."""
import pathlib
import subprocess
import tempfile
import unittest

import check_prose

LONG = "One two three four five six seven eight nine ten " * 2 + "and six more words follow here."
SHORT = "One two three four five six seven eight nine ten."


def rules(findings):
    return [(finding.line, finding.rule) for finding in findings]


class Sentences(unittest.TestCase):
    def test_a_sentence_of_26_words_is_found_with_its_line(self):
        self.assertEqual(len(LONG.split()), 26)
        self.assertEqual(rules(check_prose.check_page("README.md", f"# Title\n\n{LONG}\n")), [(3, "sentence")])

    def test_a_sentence_of_25_words_passes(self):
        text = LONG.replace("six more", "more")
        self.assertEqual(check_prose.check_page("README.md", text), [])

    def test_lines_of_a_paragraph_are_one_text(self):
        text = LONG.replace("seven", "seven\n", 1)
        self.assertEqual(rules(check_prose.check_page("README.md", text)), [(1, "sentence")])

    def test_items_of_a_list_and_headings_are_texts_of_their_own(self):
        part = " ".join(LONG.split()[:15])
        self.assertEqual(check_prose.check_page("README.md", f"# {part}\n- {part}\n- {part}\n1. {part}\n"), [])

    def test_code_is_no_prose(self):
        self.assertEqual(check_prose.check_page("README.md", f"```\n{LONG}\n```\n\n    {LONG}\n"), [])

    def test_a_fence_within_a_longer_fence_does_not_close_it(self):
        self.assertEqual(check_prose.check_page("README.md", f"````\n```\n{LONG}\n````\n"), [])

    def test_code_spans_and_links_count_as_what_is_read(self):
        self.assertEqual(check_prose.words(check_prose.plain("Run `make a b c` as [two words](a/b.md) say.")),
                         ["Run", "CODE", "as", "two", "words", "say."])

    def test_dots_of_numbers_and_abbreviations_end_no_sentence(self):
        self.assertEqual(len(check_prose.sentences("It takes 1.5 s (Zhou et al. 2016). Then it ends.")), 2)


class Cells(unittest.TestCase):
    TABLE = "| name | note |\n|---|---|\n| a | one two three four five six seven eight nine |\n"

    def test_nine_words_in_a_cell_of_a_results_page_are_found(self):
        self.assertEqual(rules(check_prose.check_page("docs/results/speed.md", self.TABLE)), [(3, "cell")])

    def test_eight_words_pass_and_so_do_other_pages(self):
        self.assertEqual(check_prose.check_page("docs/results/speed.md", self.TABLE.replace(" nine", "")), [])
        self.assertEqual(check_prose.check_page("docs/guide/train.md", self.TABLE), [])


class Comments(unittest.TestCase):
    def test_first_words_that_name_nothing_are_found(self):
        text = "/// What is kept.\nint a;  // of that\nint b;  // Of that\n/// Number of threads.\n"
        self.assertEqual(rules(check_prose.check_source("src/core/a.h", text)), [(1, "first-word"), (3, "first-word")])

    def test_lines_that_follow_are_one_comment(self):
        text = "/// Number of\n/// What follows.\n///\n/// Where it lies.\n"
        self.assertEqual(rules(check_prose.check_source("src/core/a.h", text)), [(4, "first-word")])

    def test_long_sentences_are_found_in_comments(self):
        self.assertEqual(rules(check_prose.check_source("src/core/a.h", f"// {LONG}\n")), [(1, "sentence")])

    def test_tags_are_texts_of_their_own_and_code_is_none(self):
        part = " ".join(LONG.split()[:15])
        text = f"/// {part}\n/// @param a {part}\n///     {part}\n/// @param b {part}\n\n// Example:\n//   {LONG}\n"
        self.assertEqual(rules(check_prose.check_source("src/core/a.h", text)), [(2, "sentence")])

    def test_licence_lines_and_addresses_are_no_comments(self):
        text = '// SPDX-License-Identifier: That\nconst char* a = "https://What";\n'
        self.assertEqual(check_prose.check_source("src/core/a.h", text), [])


class Subjects(unittest.TestCase):
    def test_73_characters_are_found(self):
        self.assertEqual(len(check_prose.check_subjects([f"abc {'x' * 73}", f"abc {'x' * 72}"])), 1)

    def test_commits_after_the_tag_are_read_and_none_without_it(self):
        with tempfile.TemporaryDirectory() as folder:
            def git(*words):
                subprocess.run(["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e", *words], check=True,
                               capture_output=True)
            git("init", "-q")
            git("commit", "-q", "--allow-empty", "-m", "before")
            self.assertEqual(check_prose.subjects_after_tag(pathlib.Path(folder)), [])
            git("tag", check_prose.TAGS[1])
            git("commit", "-q", "--allow-empty", "-m", "after it")
            lines = check_prose.subjects_after_tag(pathlib.Path(folder))
            self.assertEqual([line.split(" ", 1)[1] for line in lines], ["after it"])


class Exceptions(unittest.TestCase):
    FINDING = check_prose.Finding("docs/adr/0001-own-engine-on-onednn.md", 1, "sentence", "")

    def test_an_exception_covers_its_rule_in_its_paths(self):
        left, unused = check_prose.without_exceptions([self.FINDING], [("docs/adr/*", "sentence")])
        self.assertEqual((left, unused), ([], []))

    def test_an_exception_that_covers_nothing_is_told(self):
        left, unused = check_prose.without_exceptions([self.FINDING], [("docs/adr/*", "cell")])
        self.assertEqual((left, unused), ([self.FINDING], [("docs/adr/*", "cell")]))

    def test_an_eleventh_exception_and_a_rule_that_is_none_are_refused(self):
        line = "docs/adr/* sentence decisions are history\n"
        self.assertEqual(len(check_prose.read_exceptions("# note\n" + line * 10)), 10)
        for text in (line * 11, "docs/adr/* spelling why\n", "docs/adr/* sentence\n"):
            with self.assertRaises(ValueError):
                check_prose.read_exceptions(text)


class Rooms(unittest.TestCase):
    def test_clean_rooms_are_folders_of_src(self):
        for room in check_prose.CLEAN_ROOMS:
            self.assertTrue((check_prose.ROOT / "src" / room).is_dir(), room)


if __name__ == "__main__":
    unittest.main()
