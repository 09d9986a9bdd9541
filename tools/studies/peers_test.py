# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of peers.py with a stand-in for the program: what is measured here means nothing."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import peers

PROGRAM = """#!/bin/sh
for word; do file=$word; done
case $2 in
  step) echo '{"images_per_s": 8, "floor_ratio": 1.25}' > $file;;
  infer) echo '{"batches": [{"images_per_s": 20}]}' > $file;;
  pipeline) echo '{"images_per_s": 40}' > $file;;
esac
"""
FIGURES = """echo >> "$0.count"
if [ $(($(wc -l < "$0.count") % 2)) = 1 ]; then
  echo '{"peer": "Other 1.0", "figures": {"a": 1, "b": 4}}'
else
  echo '{"peer": "Other 1.0", "figures": {"a": 2, "b": 1}}'
fi
"""


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("roentgen", PROGRAM)
        for script in peers.SCRIPTS:
            self.write(script.file, "")
        self.python(FIGURES)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def python(self, figures, probe="exit 0"):
        """The interpreter: imports as `probe` says, prints figures."""
        self.write("python", f'#!/bin/sh\ncase "$1 $2" in -c*) {probe};; esac\n{figures}')

    def run_study(self, *more):
        command = [sys.executable, pathlib.Path(peers.__file__), "--program", self.folder / "roentgen", "--scripts",
                   self.folder, "--python", self.folder / "python", "--json", self.folder / "peers.json", *more]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)

    def result_of(self, *more):
        run = self.run_study(*more)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads((self.folder / "peers.json").read_text())

    def test_puts_ours_and_theirs_side_by_side(self):
        result = self.result_of("--peers", "torch", "--rounds", "1")
        self.assertEqual([(row["what"], row["peer"], row["way"]) for row in result["table"]],
                         [("training", "-", "auto"), ("training", "torch", "a"), ("training", "torch", "b"),
                          ("inference", "-", "auto"), ("inference", "-", "direct"), ("inference", "torch", "a"),
                          ("inference", "torch", "b")])
        self.assertEqual(result["table"][0]["ours_over_it"], 1)
        self.assertEqual(result["table"][2]["program"], "Other 1.0")
        self.assertEqual(result["floor_ratio"], 1.25)

    def test_ratios_are_medians_of_rounds_against_the_better_way_of_each(self):
        (self.folder / "bench_infer_torch.py").unlink()
        result = self.result_of("--peers", "torch", "--rounds", "2")
        self.assertEqual(result["ratios"], [{"what": "training", "peer": "torch", "program": "Other 1.0",
                                             "way": "", "ours_over_it": 3.0, "least": 2.0, "most": 4.0}])
        self.assertIn("torch, inference (bench_infer_torch.py) left out: no such file", result["missing"][0])

    def test_ratios_are_to_the_faster_variant_of_every_way(self):
        self.python('echo \'{"peer": "x", "figures": {"eager, a": 1, "eager, b": 2, "frozen, a": 5, "frozen, b": 4}}\'')
        result = self.result_of("--peers", "torch", "--what", "inference", "--rounds", "1")
        self.assertEqual([(row["way"], row["ours_over_it"]) for row in result["ratios"]],
                         [("eager", 10), ("frozen", 4)])
        self.assertIsNone(result["floor_ratio"])

    def test_pipelines_read_the_data_as_it_lies_there_or_copies_of_it(self):
        result = self.result_of("--peers", "torch", "--what", "pipeline", "--rounds", "1", "--data", "/data", "--all")
        self.assertEqual([(row["way"], row["images_per_s"]) for row in result["table"]],
                         [("default", 40), ("tf-official", 40), ("a", 1), ("b", 4)])
        run = self.run_study("--what", "pipeline", "--data", self.folder)
        self.assertIn("expected 8-bit gray PNG files, got none", run.stderr)

    def test_peers_that_cannot_be_imported_name_their_package_and_others_go_on(self):
        self.python('echo \'{"peer": "x", "figures": {"a": 1}}\'', 'case "$2" in *compile*) exit 1;; esac; exit 0')
        result = self.result_of("--model", "resnet18", "--rounds", "1")
        self.assertEqual(len(result["missing"]), 2)
        self.assertTrue(result["missing"][0].startswith("torch-compile, training"))
        self.assertTrue(result["missing"][0].endswith("-m pip install 'torch>=2' torchvision"))
        self.assertIn("it has no resnet18; try one of resnet50 densenet121", result["missing"][1])
        missing = self.result_of("--peers", "tensorflow", "--tensorflow-python", "/nowhere/python9")["missing"]
        self.assertIn("/nowhere/python9 does not start; try --tensorflow-python", missing[0])

    def test_a_script_that_fails_or_prints_no_figures_ends_the_study(self):
        for figures, words in (("echo first >&2; echo MemoryError >&2; exit 1", "status 1, MemoryError"),
                               ("echo '['", "expected JSON"), ('echo \'{"peer": "x", "figures": {}}\'', "expected JSON"),
                               ('echo \'{"peer": "x", "figures": {"a": -1}}\'', "expected JSON")):
            self.python(figures)
            run = self.run_study("--peers", "torch", "--rounds", "1")
            self.assertEqual(run.returncode, 1)
            self.assertIn(words, run.stderr)

    def test_other_ways_in_another_round_are_refused(self):
        rounds = [{"program": "x", "figures": {"a": 1, "b": 2}}, {"program": "x", "figures": {"a": 1}}]
        with self.assertRaisesRegex(SystemExit, "training, torch: expected a, b, as in the first round, got a"):
            peers.require_same_ways("training", "torch", rounds)

    def test_peers_and_folders_that_are_none_are_refused(self):
        self.assertIn("got 'theano'", self.run_study("--peers", "torch,theano").stderr)
        self.assertIn("--scripts: expected a folder", self.run_study("--scripts", "/nowhere").stderr)


if __name__ == "__main__":
    unittest.main()
