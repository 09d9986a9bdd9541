# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of steps.py."""
import argparse
import unittest

import steps


class Steps(unittest.TestCase):
    def test_every_table_has_its_points(self):
        arguments = argparse.Namespace(models="a,b", batches="1,4", images="64", batch=8, threads=2)
        tables = steps.points(arguments)
        self.assertEqual(tables["batch"], [("a", 1, 224, 2), ("a", 4, 224, 2), ("b", 1, 224, 2), ("b", 4, 224, 2)])
        self.assertEqual(tables["image"], [("a", 8, 64, 2), ("b", 8, 64, 2)])
        self.assertEqual(tables["threads"], [("a", 8, 224, 1), ("a", 8, 224, 2), ("b", 8, 224, 1), ("b", 8, 224, 2)])

    def test_ratios_are_medians_of_rounds_and_points_without_memory_are_named(self):
        run = lambda rate: {"images_per_s": rate, "floor_ratio": 1.25, "peak_bytes": 3 << 20}
        tables = {"threads": [("a", 8, 224, 1), ("a", 8, 224, 2), ("a", 8, 224, 4)]}
        runs = {("a", 8, 224, 1): [run(10), run(5), run(8)], ("a", 8, 224, 2): [run(19), run(10), run(15)],
                ("a", 8, 224, 4): []}
        text = steps.markdown(tables, runs)
        self.assertIn("| a | 1 | 8.00 | 1.00x | 1.25 | 3 |", text)
        self.assertIn("| a | 2 | 15.00 | 1.90x | 1.25 | 3 |", text)
        self.assertIn("| a | 4 | more memory than there is |", text)


if __name__ == "__main__":
    unittest.main()
