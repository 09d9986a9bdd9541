# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of skipped_cases.py. Run by `make lint`."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import skipped_cases

LINES = "1/2 Test #1: A.b ...   Passed\n2/2 Test #2: C.d ...   Passed\n\n"
SUMMARY = "100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.54 sec\n"


class SkippedCases(unittest.TestCase):
    """The line before ctest's summary."""

    def passed_on(self, text, log):
        with tempfile.TemporaryDirectory() as folder:
            if log is not None:
                path = pathlib.Path(folder) / "Testing" / "Temporary" / "LastTest.log"
                path.parent.mkdir(parents=True)
                path.write_text(log)
            done = subprocess.run([sys.executable, skipped_cases.__file__, folder], input=text, capture_output=True,
                                  text=True, check=True)
        return done.stdout

    def test_counts_of_all_tests_are_added_up_with_their_reasons(self):
        log = ("a.cpp:1: Skipped\nSKIPPED: no AMX\na.cpp:1: Skipped\nSKIPPED: no AMX\na.cpp:2: Skipped\nSKIPPED: too much\n"
               "[tests.main] skipped 3 of 10 cases\nmore\n[tests.main] skipped 1 of 2 cases\n")
        lines = ("Skipped beside cases that passed: 4 of 12 cases in 2 tests\n"
                 "      2 skipped: no AMX\n      1 skipped: too much\n")
        self.assertEqual(self.passed_on(LINES + SUMMARY, log), LINES + lines + SUMMARY)

    def test_without_skipped_cases_nothing_is_added(self):
        self.assertEqual(self.passed_on(LINES + SUMMARY, "all passed\n"), LINES + SUMMARY)

    def test_output_without_a_summary_is_passed_on(self):
        self.assertEqual(self.passed_on("No tests were found!!!\n", None), "No tests were found!!!\n")


if __name__ == "__main__":
    unittest.main()
