# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests that README's chart matches the current table, and that a table without the columns is an error."""
import unittest
import xml.etree.ElementTree

import results_chart

SVG = "{http://www.w3.org/2000/svg}"
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

    def test_bars_are_as_long_as_their_values_and_marks_stand_at_published_ones(self):
        root = xml.etree.ElementTree.fromstring(results_chart.bars("T", [("a", 1.0, 0.5, 2.0, "measured", None),
                                                                         ("b", 0.5, 0.5, 0.5, "emulated", 2.0)], "x"))
        found = [(element.get("class"), float(element.get("width"))) for element in root.iter(SVG + "rect")]
        self.assertEqual(found, [("bar measured", 260.0), ("bar emulated", 130.0)])
        marks = [element.get("d") for element in root.iter(SVG + "path") if element.get("class") == "published"]
        self.assertEqual([mark.split()[0] for mark in marks], ["M528.0"])

    def test_curves_have_a_line_a_series_and_rings_of_its_colour_at_published_values(self):
        root = xml.etree.ElementTree.fromstring(results_chart.curves(
            "T", {"a": ("predicted", {1: 1.0, 4: 2.0}), "b": ("published", {4: 1.0})}, ("ranks", "speed")))
        line = next(root.iter(SVG + "polyline"))
        first, last = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        self.assertEqual((first[0], last[0]), (56.0, 616.0))  # the ends of the axis
        self.assertGreater(first[1], last[1])  # y grows downwards
        ring = next(element for element in root.iter(SVG + "circle") if element.get("class") == "ring")
        self.assertEqual((float(ring.get("cx")), float(ring.get("cy"))), (616.0, first[1]))
        self.assertEqual(ring.get("stroke"), line.get("stroke"))

    def test_ticks_are_round_and_at_most_the_largest_value(self):
        self.assertEqual(results_chart.ticks(1.05), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0])
        self.assertEqual(results_chart.ticks(640), [0, 100, 200, 300, 400, 500, 600])


if __name__ == "__main__":
    unittest.main()
