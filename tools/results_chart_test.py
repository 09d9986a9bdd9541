# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests that README's chart matches the current table, and that a table without the columns is an error."""
import unittest
import xml.etree.ElementTree

import results_chart

TABLE = "# T\n\n## Summary\n| metric | ours | peer | ratio |\n|---|---|---|---|\n| a < b | 1 | P | 2.5 |\n\n## Next\n| x |\n"


class Chart(unittest.TestCase):
    def test_the_picture_is_that_of_the_table(self):
        text = results_chart.PAGE.read_text(encoding="utf-8")
        self.assertEqual(results_chart.PICTURE.read_text(encoding="utf-8"),
                         results_chart.draw(results_chart.summary_rows(text)), "run tools/results_chart.py")

    def test_rows_are_those_of_the_summary_alone(self):
        self.assertEqual(results_chart.summary_rows(TABLE), [("a < b", "P", 2.5)])

    def test_the_picture_is_xml_with_a_bar_a_row_as_long_as_its_ratio(self):
        root = xml.etree.ElementTree.fromstring(results_chart.draw([("a < b", "P", 2.5), ("c", "Q", 1.0)]))
        bars = [element.get("width") for element in root.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertEqual(bars, [f"{results_chart.UNIT_PX * ratio:.1f}" for ratio in (2.5, 1.0)])

    def test_a_table_without_ratios_is_an_error(self):
        with self.assertRaises(ValueError):
            results_chart.summary_rows(TABLE.replace("ratio", "speed"))


if __name__ == "__main__":
    unittest.main()
