# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of pipeline.py."""
import argparse
import contextlib
import io
import unittest
from unittest import mock

import pipeline as experiment


def cell(order, images_per_s, **more):
    return {"device": "emulated:200", "storage": "warm", "format": "files", "order": order, "bound": "input",
            "images_per_s": images_per_s, "of_device": images_per_s / 200, "of_naive": images_per_s / 50,
            "wait_share": 1 - images_per_s / 200, **more}


RECORD = {
    "cpu": "one", "images": 59, "copies": 1,
    "experiment": {
        "devices": [{"device": "emulated:200", "images_per_s": 199.5}],
        "pipelines": [{"order": "default"}, {"order": "naive"}],
        "cells": [cell("default", 100.0), cell("naive", 50.0), cell("default", 104.0, format="tfrecord"),
                  cell("naive", 50.0, format="tfrecord")]},
    "formats": {"formats": [
        {"form": "files", "size": "original", "bytes_per_image": 2048, "warm_images_per_s": 10, "warm_of_files": 1,
         "cold_images_per_s": 9, "cold_of_files": 1},
        {"form": "tfrecord raw", "size": "256 px", "bytes_per_image": 1024, "warm_images_per_s": 90, "warm_of_files": 9,
         "cold_images_per_s": 8, "cold_of_files": 0.89, "convert_s": 1.5, "warm_break_even_epochs": [2.25, 2.51],
         "cold_break_even_epochs": None}]},
    "ablation": [{"base": "tf-official", "storage": "open=2ms,read=0ms", "orders": [
        {"order": "tf-official", "fault": "", "images_per_s": 10, "of_base": 1.0, "lost": 0.0},
        {"order": "naive", "fault": "all", "images_per_s": 4, "of_base": 0.4, "lost": 0.6}]}],
    "overlap": [{"consumer": "resnet50", "cores": "shared", "input_cores": None, "gain": 1.2,
                 "step_ms": {"input": 10, "train": 100, "sequential": 110, "overlapped": 104},
                 "limits": [{"cores": "disjoint", "least": "max(input, train)", "least_ms": 100, "ratio": 1.04,
                             "allowed": 1.05, "holds": True},
                            {"cores": "shared", "least": "train + input_work / cores", "least_ms": 102, "ratio": 1.02,
                             "allowed": 1.05, "holds": True}]}]}


class Sentences(unittest.TestCase):
    def test_a_cell_that_waits_says_for_how_long(self):
        self.assertEqual(experiment.cell_sentence(cell("naive", 50.0)),
                         "naive on files from memory leaves an accelerator of 200 images/s (emulated) waiting 75% of the "
                         "time: 25% of its rate alone.")

    def test_a_cell_that_does_not_wait_is_busy_or_shares_its_cores(self):
        busy = cell("default", 196.0, bound="compute", device="resnet50")
        self.assertIn("keeps a ResNet-50 step busy: 98%", experiment.cell_sentence(busy))
        self.assertIn("takes its cores: 90%", experiment.cell_sentence({**busy, "of_device": 0.9}))

    def test_a_row_says_what_the_order_is_worth_or_why_it_is_worth_nothing(self):
        rows = {"default": cell("default", 100.0), "naive": cell("naive", 50.0)}
        self.assertEqual(experiment.row_sentence(rows), "the order gains 2.00x")
        same = {name: {**row, "of_naive": 1.01} for name, row in rows.items()}
        self.assertIn("the limit in every order", experiment.row_sentence(same))
        self.assertEqual(experiment.row_sentence({name: {**row, "bound": "compute"} for name, row in rows.items()}),
                         "waits in neither order")
        self.assertEqual(experiment.row_sentence({**rows, "default": {**rows["default"], "of_naive": 0.8}}),
                         "the naive order is 1.25x as fast")


class Tables(unittest.TestCase):
    def test_have_a_line_for_every_row_and_say_what_is_emulated(self):
        text = experiment.markdown(RECORD)
        self.assertIn("| an accelerator of 200 images/s (emulated) | from memory | files | 100.0 (50%, input) | "
                      "50.0 (25%, input) | the order gains 2.00x |", text)
        self.assertIn("| 100.0 | 104.0 | 1.040 |", text)
        self.assertIn("| tfrecord raw | 256 px | 1 | 90 (9.00) | 8 (0.89) | 1.5 | 2.2 to 2.5, no gain shown |", text)
        self.assertIn("Storage: open=2ms,read=0ms (emulated).", text)
        self.assertIn("| naive | all | 4.0 | 0.40 | 60% |", text)
        self.assertIn("| a ResNet-50 step | shared | 10.0 | 100.0 | 110.0 | 104.0 | 1.20x | train + input_work / cores = "
                      "102.0 | 1.020 (within 1.05) |", text)

    def test_are_left_out_where_nothing_was_measured(self):
        text = experiment.markdown({key: RECORD[key] for key in ("cpu", "images", "copies", "formats")})
        self.assertNotIn("Overlap", text)
        self.assertIn("## Formats", text)


class Experiment(unittest.TestCase):
    def test_measures_every_combination_in_every_round(self):
        options = argparse.Namespace(program="roentgen", models="none", rates="100,200", experiment_rounds=2, batch=16,
                                     image=224, workers=2, cell_seconds=0.5, storage="open=2ms")

        def bench(program, case, **settings):
            slow = 2 if settings["emulate_storage"] else 1
            return {"step_ms": {"train": 160.0}, "images_per_s": (25 if "interleave |" in settings["pipeline"] else 50) / slow,
                    "wait_share": 0.5, "bound": "input", "n": 3, "emulated": True,
                    "cpu": {"model": "one", "affinity_cores": 2}}

        with mock.patch.object(experiment, "bench", bench), mock.patch.object(experiment, "read_once"), \
                contextlib.redirect_stderr(io.StringIO()):
            record = experiment.experiment(options, {"files": "f", "tfrecord": "r"}, 80)
        self.assertEqual(len({(c["device"], c["storage"], c["format"], c["order"]) for c in record["cells"]}), 2 * 3 * 2 * 3)
        self.assertEqual(record["devices"][0], {"device": "emulated:100", "emulated": True, "images_per_s": 100.0})
        naive = next(cell for cell in record["cells"] if cell["order"] == "naive")
        default = next(cell for cell in record["cells"] if cell["order"] == "default" and cell["storage"] == "slow")
        self.assertEqual((naive["of_naive"], naive["of_device"]), (1.0, 0.25))
        self.assertEqual((default["of_naive"], default["images_per_s"]), (2.0, 25.0))
        self.assertIn("leaves an accelerator of 100 images/s", default["sentence"])

    def test_little_data_has_a_small_buffer(self):
        options = argparse.Namespace(workers=2, batch=16)
        self.assertIn("shuffle(100)", experiment.orders_of(options, 800)["naive"])
        self.assertIn("shuffle(500)", experiment.orders_of(options, 100_000)["tf-official"])


if __name__ == "__main__":
    unittest.main()
