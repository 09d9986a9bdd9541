# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of test_entries.py. Run by `make lint`."""
import unittest

import test_entries
from test_entries import Entry

LISTING = """Running main() from gtest_main.cpp
Shape.
  counts_elements
  counts
Units/Passes.
  forward/AMX_one  # GetParam() = (4-byte object <01-00 00-00>, one)
  forward/plain_one  # GetParam() = (4-byte object <00-00 00-00>, one)
  backward/AMX_one  # GetParam() = (4-byte object <01-00 00-00>, one)
Product/Passes.
  forward/plain_two  # GetParam() = (4-byte object <00-00 00-00>, two)
Folding/Graph.
  is_written/0  # GetParam() = false
Typed/0.  # TypeParam = int
  works
"""
CASES = ["Shape.counts_elements", "Shape.counts", "Units/Passes.forward/AMX_one", "Units/Passes.forward/plain_one",
         "Units/Passes.backward/AMX_one", "Product/Passes.forward/plain_two", "Folding/Graph.is_written/0",
         "Typed/0.works"]


class TestEntries(unittest.TestCase):
    """Cases of a listing, and the entries they make."""

    def test_a_listing_gives_full_names(self):
        self.assertEqual(test_entries.cases_of(LISTING), CASES)

    def test_instances_of_a_written_test_share_an_entry(self):
        self.assertEqual(test_entries.entries_of(CASES), [
            Entry("Shape.counts_elements", "Shape.counts_elements", False),
            Entry("Shape.counts", "Shape.counts", False),
            Entry("Units/Passes.forward", "Units/Passes.forward/*", False),
            Entry("Units/Passes.backward", "Units/Passes.backward/*", False),
            Entry("Product/Passes.forward", "Product/Passes.forward/*", True),
            Entry("Folding/Graph.is_written", "Folding/Graph.is_written/*", False),
            Entry("Typed/0.works", "Typed/0.works", False)])

    def test_every_case_is_in_one_entry(self):
        for wanted in ("*", "*AMX*:Shape.*", "*:-Shape.counts", "*.forward/*-*AMX*"):
            is_wanted = test_entries.matcher_of(wanted)
            matchers = [test_entries.matcher_of(entry.filter) for entry in test_entries.entries_of(CASES, wanted)]
            for name in CASES:
                self.assertEqual(sum(is_in(name) for is_in in matchers), int(is_wanted(name)), f"{wanted} {name}")

    def test_a_filter_leaves_the_cases_it_takes(self):
        self.assertEqual(test_entries.entries_of(CASES, "*AMX*", "Emulated."), [
            Entry("Emulated.Units/Passes.forward", "Units/Passes.forward/AMX_one", False),
            Entry("Emulated.Units/Passes.backward", "Units/Passes.backward/*", False)])

    def test_a_script_keeps_lists_whole_and_labels_the_product(self):
        entries = [Entry("A.b", "A.b", False), Entry("Product/A.c", "Product/A.c/*", True)]
        text = test_entries.script_of(entries, "/b/a_test", "unit", {"TIMEOUT": "900", "ENVIRONMENT": "X=1;Y=2"})
        self.assertIn("add_test([==[A.b]==] [==[/b/a_test]==] [==[--gtest_filter=A.b]==])\n", text)
        self.assertIn("set_tests_properties([==[A.b]==] PROPERTIES LABELS [==[unit]==] SKIP_RETURN_CODE [==[77]==] "
                      "TIMEOUT [==[900]==] ENVIRONMENT [==[X=1;Y=2]==])\n", text)
        self.assertIn("set_tests_properties([==[Product/A.c]==] PROPERTIES LABELS [==[product]==]", text)


if __name__ == "__main__":
    unittest.main()
