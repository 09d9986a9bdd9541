# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of experiments.py: rows and ratios, every experiment with a stand-in for the program, and the committed page."""
import argparse
import contextlib
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

import experiment_figures as figures
import experiment_page
import experiment_runs
import experiment_sections
import experiments
from study import TOOLS

sys.path.insert(0, str(TOOLS))
from check_prose import check_page  # noqa: E402

DOCS = TOOLS.parent / "docs"
STORED = sorted((DOCS / "results/experiments").glob("*.csv"))
PROGRAM = {"program": {"commit": "c0ffee"}, "cpu": {"model": "one", "affinity_cores": 2}}


def option(words, name, default=""):
    return words[words.index(name) + 1] if name in words else default


def overlap_result(words):
    speed = 50 if "interleave |" in option(words, "--pipeline") else 100
    return {"images_per_s": speed, "wait_share": 0.5, "cores": "shared", "gain": 1.5,
            "step_ms": {"input": 10, "train": 20, "sequential": 30, "overlapped": 20, "input_work": 9},
            "limits": [{"cores": "shared", "ratio": 1.05}]}


def scaling_result(words):
    counts = option(words, "--ranks-per-node") or option(words, "--ranks")
    points = [{"ranks": int(n), "threads": 1, "images_per_s": 10 * int(n), "data_wait": 0.25, "speedup": float(n)}
              for n in counts.split(",")]
    return {"model": option(words, "--model"), "points": points}


def scale_result(words):
    devices = [int(word) for word in option(words, "--devices").split(",")]
    return {"points": [{"devices": n, "images_per_s": 20 * n, "efficiency": 0.9} for n in devices]}


def folders_result(words):
    return {"folders": [{"file_system": "ext4", "images_per_s": 100, "of_first": 1},
                        {"file_system": "tmpfs", "images_per_s": 110, "of_first": 1.1}]}


def formats_result(words):
    row = {"form": "files", "size": "original", "warm_images_per_s": 100, "cold_images_per_s": 50, "convert_s": None}
    return {"formats": [row, {**row, "form": "tfrecord keep", "cold_images_per_s": 55, "convert_s": 1.0},
                        {**row, "form": "tfrecord raw", "size": "256 px", "warm_images_per_s": 1000, "convert_s": 2.0}]}


def ablation_result(words):
    orders = ("tf-official", "serial-interleave", "naive", "naive-one-thread", "default")
    return {"orders": [{"order": name, "fault": "" if name in ("tf-official", "default") else f"fault of {name}",
                        "images_per_s": 100 - 10 * i, "lost": 0.1 * i} for i, name in enumerate(orders)]}


def step_result(words):
    speed = 100 if option(words, "--fuse") == "off" else 110
    return {"images_per_s": speed, "memory": {"activations_bytes": 2**30 * 100 // speed}}


RESULTS = {"overlap": overlap_result, "scaling": scaling_result, "scale": scale_result, "pipeline": folders_result,
           "formats": formats_result, "ablation": ablation_result, "step": step_result}


def stand_in(command):
    """Writes the JSON of a command as the program would."""
    words = [str(word) for word in command]
    first = words.index("bench" if "bench" in words else "doctor")
    result = RESULTS[words[first + 1]](words)
    pathlib.Path(option(words, "--json")).write_text(json.dumps(result | PROGRAM))


def run_all(sizes):
    """Rows of every experiment, run with the stand-in."""
    options = argparse.Namespace(program="roentgen", data="", batch=16, rate=1000.0, storage="open=2ms",
                                 rank_storage="open=1ms")
    with tempfile.TemporaryDirectory() as work, contextlib.chdir(work), mock.patch.object(figures, "run", stand_in), \
            mock.patch.object(experiment_runs, "can_emulate_hosts", lambda: True):
        for name in ("images", "few"):
            pathlib.Path(name).mkdir()
            for index in range(8):
                (pathlib.Path(name) / f"{index}.png").write_bytes(b"")
        return {name: function(experiment_runs.Lab(options, sizes)) for name, function in experiment_runs.EXPERIMENTS.items()}


def stored(tables):
    """The tables as they are after they were written and read."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in tables.items():
            figures.write_csv(pathlib.Path(folder) / f"{name}.csv", rows)
        return {name: figures.read_csv(pathlib.Path(folder) / f"{name}.csv") for name in tables}


class Figures(unittest.TestCase):
    def made(self):
        made = figures.Figures("roentgen", "full")
        note = {"origin": "measured", "hardware": "h", "commit": "c", "command": "roentgen bench step"}
        for off, on in ((10, 12), (20, 22), (30, 39)):
            made.add({"fuse": "off"}, {"images_per_s": off, "other": None}, note)
            made.add({"fuse": "on"}, {"images_per_s": on, "other": None}, note)
        made.ratios("of_off", "images_per_s", experiment_runs.of_off)
        return made

    def test_are_medians_with_the_least_and_the_most_of_the_rounds(self):
        row = self.made().rows("fusion")[0]
        self.assertEqual([row[name] for name in ("value", "low", "high", "rounds", "unit")], [20, 10, 30, 3, "images/s"])

    def test_ratios_are_those_within_a_round(self):
        rows = [row for row in self.made().rows("fusion") if row["metric"] == "of_off"]
        self.assertEqual([(row["fuse"], row["value"], row["low"], row["high"]) for row in rows], [("on", 1.2, 1.1, 1.3)])

    def test_published_values_stand_beside_ours(self):
        rows = self.made().rows("x", lambda settings, metric: figures.Published(1.35, "V100", 1.43)
                                if metric == "of_off" else None)
        self.assertEqual([(row["published"], row["published_high"], row["published_hardware"]) for row in rows],
                         [("", "", ""), ("", "", ""), (1.35, 1.43, "V100")])

    def test_epochs_to_pay_repay_the_conversion(self):
        self.assertAlmostEqual(experiment_runs.epochs_to_pay(100, 50, 100, 3), 3.0)  # saves 1 s an epoch
        self.assertEqual(experiment_runs.epochs_to_pay(100, 50, 50, 3), float("inf"))


class Sentences(unittest.TestCase):
    def of(self, value, low, high, rounds=3):
        return experiment_sections.faster({"value": value, "low": low, "high": high, "rounds": rounds}, "A", "B")

    def test_name_a_difference_only_if_all_rounds_show_it(self):
        self.assertEqual(self.of(1.5, 1.2, 1.6), "A is 1.50 times as fast as B (1.20 to 1.60 in 3 rounds).")
        self.assertEqual(self.of(0.5, 0.4, 0.9), "A is 0.50 times as fast as B (0.40 to 0.90 in 3 rounds), so slower.")
        self.assertEqual(self.of(1.5, 0.9, 1.6), "A is about as fast as B: 1.50 times (0.90 to 1.60 in 3 rounds).")

    def test_one_round_shows_no_difference(self):
        self.assertEqual(self.of(1.5, 1.5, 1.5, rounds=1), "A runs at 1.50 times the speed of B (one round).")


class Experiments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tables = {sizes.name: stored(run_all(sizes)) for sizes in (experiment_runs.FULL, experiment_runs.QUICK)}

    def test_a_file_for_each_and_a_section_for_each(self):
        self.assertEqual(list(experiment_runs.EXPERIMENTS), list(experiment_sections.SECTIONS))
        for rows in self.tables["full"].values():
            self.assertTrue(rows)

    def test_rows_are_medians_of_the_rounds_of_their_sizes(self):
        self.assertEqual({row["rounds"] for row in self.tables["full"]["orders"]}, {3})
        self.assertEqual({row["sizes"] for row in self.tables["quick"]["orders"]}, {"quick"})

    def test_ratios_have_the_right_base(self):
        rows = experiment_sections.Rows(self.tables["full"]["orders"])
        self.assertEqual(rows.one("of_naive", device="resnet18", storage="memory", order="default")["value"], 2.0)
        rows = experiment_sections.Rows(self.tables["full"]["batch"])
        self.assertEqual(rows.one("of_off", batch=128, fuse="on")["value"], 1.1)
        self.assertEqual(rows.one("of_smaller_batch", batch=256, fuse="on")["value"], 1.0)

    def test_conversions_pay_later_the_more_often_data_change(self):
        rows = experiment_sections.Rows(self.tables["full"]["convert"])
        at = {"format": "tfrecord raw", "size": "256 px", "pages": "warm"}
        epochs = [rows.one("break_even_epochs", changes=changes, **at)["value"] for changes in (0, 10, 100)]
        self.assertEqual(epochs, [27.778, 305.56, 2805.6])  # 2 s / (8 / 100 - 8 / 1000) s an epoch, of 1, 11, 101
        self.assertEqual([rows.one("least_trainings", changes=changes, **at)["value"] for changes in (0, 10, 100)], [1, 7, 57])
        self.assertIsNone(rows.one("least_trainings", changes=0, **{**at, "format": "tfrecord keep", "size": "original"}))

    def test_the_page_is_written_from_the_rows(self):
        text = experiment_page.page(self.tables["full"])
        self.assertIn("| ResNet-50 | 128 | 48 | 100 (100 to 100) | 110 (110 to 110) | 1.10 (1.10 to 1.10) | 1.35 |", text)
        self.assertNotIn("Not results", text)
        self.assertIn("**Not results.**", experiment_page.page(self.tables["quick"]))

    def test_sentences_are_short_whatever_the_figures_are(self):
        for factor in (0.5, 1, 2):  # slower, no clear difference, faster
            tables = {name: [{**row, "value": row["value"] * factor, "low": row["low"] * factor,
                              "high": row["high"] * factor} for row in rows] for name, rows in self.tables["full"].items()}
            self.assertEqual(check_page("docs/results/experiments.md", experiment_page.page(tables)), [])

    def test_charts_are_xml_with_a_mark_of_every_published_value(self):
        for name, picture in experiment_page.charts(self.tables["full"]).items():
            xml.etree.ElementTree.fromstring(picture)
            self.assertRegex(picture, "measured|emulated|predicted", name)
        hosts = experiment_page.charts(self.tables["full"])["hosts"]
        known = [row for row in self.tables["full"]["hosts"] if row["metric"] == "efficiency" and row["published"] != ""]
        clusters = {row["cluster"] for row in known}
        self.assertEqual(hosts.count('class="ring"'), len(known) + len(clusters))  # one more in the legend

    def test_hosts_without_root_are_predicted_alone(self):
        rows = [row for row in self.tables["full"]["hosts"] if row["origin"] == "predicted"]
        self.assertNotIn("(run)", experiment_page.page({"hosts": rows}))

    def check_origins(self, tables):
        for name, rows in tables.items():
            for row in rows:
                self.assertIn(row["origin"], figures.ORIGINS, name)
                if "emulated" in row["command"] or "--emulate-storage" in row["command"]:
                    self.assertNotEqual(row["origin"], "measured", row)
                if row["command"].startswith("roentgen doctor scale"):
                    self.assertEqual(row["origin"], "predicted", row)
                self.assertLessEqual(row["low"], row["value"])
                self.assertLessEqual(row["value"], row["high"])

    def test_nothing_emulated_or_predicted_is_called_measured(self):
        self.check_origins(self.tables["full"])
        self.check_origins({path.stem: figures.read_csv(path) for path in STORED})


class Committed(unittest.TestCase):
    def test_page_and_charts_are_those_of_the_csv_files(self):
        tables = {path.stem: figures.read_csv(path) for path in STORED}
        tables = {name: tables[name] for name in experiment_runs.EXPERIMENTS}
        again = "run tools/studies/experiments.py --page"
        self.assertEqual((DOCS / "results/experiments.md").read_text(encoding="utf-8"), experiment_page.page(tables), again)
        pictures = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "images/experiments").glob("*.svg")}
        self.assertEqual(pictures, experiment_page.charts(tables), again)

    def test_columns_are_settings_and_then_the_shared_ones(self):
        for path in STORED:
            head = path.read_text(encoding="utf-8").splitlines()[0].split(",")
            self.assertEqual((head[0], head[-len(figures.COLUMNS):]), ("experiment", list(figures.COLUMNS)), path)

    def test_no_path_of_a_machine_is_in_a_command(self):
        for path in STORED:
            for row in figures.read_csv(path):
                self.assertIsNone(re.search(r"/(home|root|tmp|work)\b", row["command"]), row["command"])


class CommandLine(unittest.TestCase):
    def test_an_unknown_experiment_is_refused(self):
        with mock.patch("sys.argv", ["experiments.py", "--only", "orders,ghosts"]), self.assertRaises(SystemExit) as end:
            experiments.main()
        self.assertIn("got ghosts", str(end.exception.code))


if __name__ == "__main__":
    unittest.main()
