# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs tools/gpu/accuracy.sh with a stub instead of roentgen: equal AUROCs, other ones, a failed training, no data."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent / "gpu"
# Trains nothing. `eval` reads device, type and seed from the folder that `train` was told to write.
ROENTGEN = r"""#!{python}
import json, os, pathlib, sys
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
if words[0] == "train":
    name = pathlib.Path(value("--out")).name
    if name == os.environ.get("STUB_FAILURE"):
        sys.exit("no such card")
    assert name == "_".join([value("--device"), value("--dtype"), value("--set").removeprefix("train.seed=")]), words
else:
    device, _, seed = pathlib.Path(value("--checkpoint")).parents[1].name.split("_")
    auroc = 0.95 + 0.001 * int(seed) + (float(os.environ.get("STUB_OFFSET", "0")) if device == "cuda" else 0)
    pathlib.Path(value("--json")).write_text(json.dumps({{"auroc": {{"mean": auroc}}}}))
"""


class Accuracy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bundle, self.out = pathlib.Path(folder.name) / "bundle", pathlib.Path(folder.name) / "out"
        (self.bundle / "bin").mkdir(parents=True)
        (self.bundle / "data/kermany").mkdir(parents=True)
        for name in ("accuracy.sh", "accuracy_table.py"):
            shutil.copy(TOOLS / name, self.bundle / name)
        (self.bundle / "env.sh").write_text('PATH=$(dirname "${BASH_SOURCE[0]}")/bin:$PATH\n', encoding="utf-8")
        program = self.bundle / "bin/roentgen"
        program.write_text(ROENTGEN.format(python=sys.executable), encoding="utf-8")
        program.chmod(0o755)
        self.environment = {key: text for key, text in os.environ.items() if key not in ("CPU", "DEVICES", "LIMIT")}

    def accuracy(self, **variables):
        return subprocess.run([self.bundle / "accuracy.sh", self.out], env={**self.environment, **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_equal_aurocs_are_within_the_bound(self):
        ended = self.accuracy()
        self.assertEqual(ended.returncode, 0, ended.stdout)
        rows = (self.out / "aurocs.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(rows), 1 + 3 * 3, rows)
        self.assertIn("cuda,bf16,2,0.952", rows)
        self.assertEqual((self.out / "table.md").read_text(encoding="utf-8").count("| within |"), 2)

    def test_other_aurocs_exceed_it(self):
        ended = self.accuracy(STUB_OFFSET="0.02")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertEqual(ended.stdout.count("| EXCEEDED |"), 2, ended.stdout)

    def test_aurocs_of_the_cpu_can_come_from_another_run(self):
        self.assertEqual(self.accuracy(DEVICES="cpu:f32").returncode, 0)
        earlier = self.out.parent / "earlier.csv"
        shutil.move(self.out / "aurocs.csv", earlier)
        ended = self.accuracy(CPU=str(earlier))
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertNotIn("cpu_f32_0: AUROC", ended.stdout)
        self.assertEqual(ended.stdout.count("| within |"), 2, ended.stdout)

    def test_a_failed_training_is_named(self):
        ended = self.accuracy(STUB_FAILURE="cuda_f16_1")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertRegex(ended.stdout, r"cuda_f16_1: FAILED after \d+ s: no such card")
        self.assertIn("cuda_f16_2: AUROC", ended.stdout)

    def test_a_bundle_without_data_is_refused(self):
        shutil.rmtree(self.bundle / "data")
        ended = self.accuracy()
        self.assertEqual(ended.returncode, 2, ended.stdout)
        self.assertIn("ROENTGEN_KERMANY", ended.stdout)


if __name__ == "__main__":
    unittest.main()
