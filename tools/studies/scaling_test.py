# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of scaling.py."""
import unittest
import xml.etree.ElementTree

import scaling as experiment


def points_of(pipeline, form, figures, wait):
    return [{"model": "resnet50", "pipeline": pipeline, "format": form, "ranks": ranks, "images_per_s": images_per_s + shift,
             "data_wait": wait, "comm_exposed": 0.0, "imbalance": 0.0, "kind": "emulated"}
            for shift in (-1, 0, 1) for ranks, images_per_s in figures.items()]


RECORD = {"rates": {"resnet50": 16.0}, "batch": 16, "storage": "open=6ms", "rounds": 3, "cpu": "one",
          "load": {"cores_used": 0.5, "cores": 2, "before": 1.0, "after": 2.0},
          "points": points_of("naive", "raw", {1: 16, 2: 17, 4: 18}, 0.7) +
          points_of("naive", "tfrecord", {1: 16, 2: 20, 4: 20}, 0.6) +
          points_of("default", "raw", {1: 16, 2: 32, 4: 64}, 0.0) +
          points_of("default", "tfrecord", {1: 16, 2: 32, 4: 48}, 0.25)}


class Cells(unittest.TestCase):
    def test_are_medians_with_the_least_and_the_most_of_the_rounds(self):
        cell = experiment.cells_of(RECORD)["resnet50", "naive", "raw"][4]
        self.assertEqual((cell["images_per_s"], cell["min"], cell["max"], cell["data_wait"]), (18, 17, 19, 0.7))


class Sentences(unittest.TestCase):
    def of(self, pipeline, form):
        return experiment.sentence(experiment.cells_of(RECORD)["resnet50", pipeline, form])

    def test_a_row_is_flat_linear_or_in_between(self):
        self.assertEqual(self.of("naive", "raw"), "flat: 4 times the devices, 1.12 times the work; they wait 70% of the time")
        self.assertEqual(self.of("default", "raw"), "linear: 4 times the devices, 4.00 times the work; they wait 0% of the time")
        self.assertEqual(self.of("default", "tfrecord"),
                         "in between: 4 times the devices, 3.00 times the work; they wait 25% of the time")

    def test_gains_are_of_the_most_ranks(self):
        text = experiment.gain_sentences(experiment.cells_of(RECORD))
        self.assertIn("ResNet-50, 4 ranks: records gain 11% in the naive order and -25% in the default one", text)
        self.assertIn("the order gains 3.6x on raw files and 2.4x on records", text)

    def test_the_table_has_a_row_for_each_and_says_emulated_and_who_used_the_machine(self):
        text = experiment.markdown(RECORD)
        self.assertIn("| network (emulated) | pipeline | format | 1 rank | 2 ranks | 4 ranks | what it shows |", text)
        self.assertIn("| ResNet-50, 16/s a rank | naive | TFRecord | 16.0 (15.0 to 17.0; 60%) | ", text)
        self.assertEqual(text.count("| ResNet-50, "), 4)
        self.assertIn("The runs took 0.50 cores on average of 2 (one); load average 1.0 before, 2.0 after", text)

    def test_one_round_has_no_least_and_most(self):
        text = experiment.markdown({**RECORD, "rounds": 1})
        self.assertIn("| naive | TFRecord | 16.0 (60%) | ", text)
        self.assertIn("One round, batches of 16", text)


class Figure(unittest.TestCase):
    def test_draws_linear_curves_along_the_dashes_and_flat_ones_below(self):
        root = xml.etree.ElementTree.fromstring(experiment.svg(RECORD))
        lines = {line.get("class"): [tuple(map(float, point.split(","))) for point in line.get("points").split()]
                 for line in root.iter("{http://www.w3.org/2000/svg}polyline")}
        self.assertEqual(len(lines), 4)
        dashes = next(path.get("d") for path in root.iter("{http://www.w3.org/2000/svg}path") if path.get("class") == "linear")
        self.assertEqual(tuple(map(float, dashes.split("L")[1].split())), lines["default raw"][-1])
        self.assertGreater(lines["naive raw"][-1][1], lines["default raw"][-1][1])  # y grows downwards
        self.assertAlmostEqual(lines["naive raw"][0][1], lines["default raw"][0][1])


if __name__ == "__main__":
    unittest.main()
