#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of the comparison itself: `python3 -m unittest discover -s tests/frozen -p '*_test.py'`."""
import hashlib
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import frozen  # noqa: E402
import lab  # noqa: E402
import surface  # noqa: E402


def changes(*lines):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "CHANGES.md"
        path.write_text("# Title\n\nText.\n" + "".join(f"{line}\n" for line in lines))
        return frozen.read_changes(path)


class Record(unittest.TestCase):
    def test_what_a569795_left_is_not_edited(self):
        whole = hashlib.sha256()
        files = [path for pattern in ("expected/*.json", "resume/*.safetensors", "nets/*.txt")
                 for path in frozen.FOLDER.glob(pattern)]
        for path in sorted(files):
            whole.update(path.name.encode() + path.read_bytes())
        self.assertEqual(whole.hexdigest()[:16], "7f5e3395abd31bd2", "name a difference in CHANGES.md instead")


class Differences(unittest.TestCase):
    def test_equal_tables_have_none(self):
        self.assertEqual(frozen.differences("c", {"a": 1}, {"a": 1}, []), [])

    def test_each_kind_is_named(self):
        lines = frozen.differences("c", {"a": 1, "b": 2}, {"a": 3, "d": 4}, [])
        self.assertEqual(lines, ["c: a: was 1, is 3", "c: b: was 2, is null", "c: d: was null, is 4"])

    def test_a_line_allows_its_difference_alone(self):
        named = changes("- c | `a` | = `3` | a reason", "- c | `b` | removed | a reason", "- c | `d*` | added | a reason")
        self.assertEqual(frozen.differences("c", {"a": 1, "b": 2}, {"a": 3, "d4": 4}, named), [])
        self.assertEqual(frozen.differences("c", {"a": 1, "b": 2}, {"a": 4, "d4": 4}, changes(
            "- c | `a` | = `3` | a reason", "- c | `b` | removed | a reason", "- c | `d*` | added | a reason"))[0],
            "c: a: was 1, is 4")

    def test_a_line_without_its_difference_fails(self):
        lines = frozen.differences("c", {"a": 1}, {"a": 1}, changes("- c | `a` | removed | a reason"))
        self.assertEqual(lines, ["c: CHANGES.md names `a` (removed), which does not differ so"])

    def test_a_line_without_a_reason_is_refused(self):
        with self.assertRaisesRegex(lab.Failure, "CHANGES.md:4"):
            changes("- c | `a` | removed |")

    def test_numbers_with_a_bound_may_differ_by_it(self):
        self.assertEqual(frozen.differences("c", {"a": [1.0, 0.1]}, {"a": [1.05, 0.1]}, []), [])
        self.assertEqual(len(frozen.differences("c", {"a": [1.0, 0.1]}, {"a": [1.2, 0.1]}, [])), 1)
        self.assertEqual(len(frozen.differences("c", {"a": [1.0, 0.1]}, {"a": [float("nan"), 0.1]}, [])), 1)

    def test_a_value_that_cannot_be_told_is_passed_over_but_not_one_that_is_missing(self):
        self.assertEqual(frozen.differences("c", {"a": 1}, {"a": None}, []), [])
        self.assertEqual(len(frozen.differences("c", {"a": 1}, {}, [])), 1)


class Surface(unittest.TestCase):
    def test_flags_are_told_from_switches(self):
        text = "Options:\n  -h,--help    Print\n  --out DIR    folder\n  --n NUMBER=3    some\n  --form a|b=a\n  --keep    it\n"
        self.assertEqual(surface.flags_of(text), {"--help": "switch", "--out": "value", "--n": "value", "--form": "value",
                                                  "--keep": "switch"})

    def test_flags_that_share_a_line_are_told_apart(self):
        text = "  --low,--high NUMBER    bounds\n  --fast,--strict    how\n"
        self.assertEqual(surface.flags_of(text), {"--low": "value", "--high": "value", "--fast": "switch",
                                                  "--strict": "switch"})

    def test_recipe_keys_have_their_section_and_default(self):
        text = "[a]  # words\nx = 1  # more (0 to 3)\n# y = ...\n[b]\nx = \"z\"\n"
        self.assertEqual(surface.recipe_keys(text), {"recipe.a.x": "1", "recipe.a.y": "none", "recipe.b.x": "\"z\""})


if __name__ == "__main__":
    unittest.main()
