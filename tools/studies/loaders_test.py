# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of loaders.py and torch_step.py with stand-ins for Python and the program: figures here mean nothing."""
import array
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import loaders
import torch_step

PROGRAM = """#!/bin/sh
for word; do file=$word; done
echo '{"images_per_s": 100, "cpu": {"model": "CPU", "affinity_cores": 2}}' > $file
"""
# Fake interpreter: prints results as bench_loaders.py does, and writes 8 images of level 127.5 + 63.75 * 2 for --first.
# The loader SPDL is missing.
PYTHON = """#!/bin/sh
case "$*" in *--version) echo 'roentgen 9 (abc)'; exit;; esac
while [ $# -gt 0 ]; do
  case $1 in --loader) loader=$2;; --first) first=$2;; esac
  shift
done
if [ "$loader" = spdl ]; then echo 'no FFmpeg' >&2; exit 1; fi
if [ -n "$first" ]; then printf '\\000\\000\\000\\100' > "$first"; fi
speed=10; if [ "$loader" = roentgen ]; then speed=40; elif [ "$loader" = opencv ]; then speed=20; fi
echo "{\\"peer\\": \\"Package 1.0\\", \\"figures\\": {\\"$loader\\": $speed}}"
"""
STEPS = """#!/bin/sh
case "$*" in *--version) echo 'roentgen 9 (abc)'; exit;; esac
figures='{"before_ms": 100, "after_ms": 101}'
case "$*" in *--idle*) ;; *roentgen*) figures='{"ms": 50}';; *) figures='{"ms": 100}';; esac
echo "{\\"peer\\": \\"PyTorch 0\\", \\"figures\\": $figures}"
"""


class Studies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "work" / "png").mkdir(parents=True)

    def program(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)
        return self.folder / name

    def run_study(self, module, *more):
        record = self.folder / "record.json"
        command = [sys.executable, module.__file__, "--work", self.folder / "work", "--json", record, *more]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(record.read_text()), done.stdout

    def test_puts_loaders_side_by_side_and_names_those_left_out(self):
        record, text = self.run_study(loaders, "--program", self.program("roentgen", PROGRAM), "--python",
                                      self.program("python", PYTHON), "--cases", "png", "--rounds", "2")
        self.assertIn("| OpenCV, threads | 1.0 | 20 (20 to 20) | 2.00x (2.00 to 2.00) |", text)
        self.assertIn("Beside the fastest peer of each round: 2.00x (2.00 to 2.00).", text)
        self.assertEqual(record["package"], "roentgen 9 (abc)")
        self.assertIn("Package: roentgen 9 (abc).", text)
        self.assertEqual(record["missing"], ["1024 px PNG files, SPDL: left out, status 1, no FFmpeg"])

    def test_memory_is_that_of_a_process_and_its_children(self):
        child = "x = bytearray(64 << 20); open(0).read()"
        code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, start_new_session=True) as process:
            try:
                while loaders.pss_of(process.pid)["Pss_Anon"] < 64 << 20:
                    self.assertIsNone(process.poll())
            finally:
                process.stdin.close()

    def test_differences_are_gray_levels(self):
        paths = [self.folder / name for name in ("ours", "theirs")]
        for path, values in zip(paths, ([0, 1], [0, 1.02])):
            path.write_bytes(array.array("f", values).tobytes())
        levels = loaders.levels_between(*paths)
        self.assertAlmostEqual(levels["largest"], 0.02 * 63.75, places=4)
        self.assertAlmostEqual(levels["mean"], 0.01 * 63.75, places=4)

    def test_compares_steps_on_both_loaders(self):
        python = self.program("python", STEPS)
        threads = str(min(2, len(os.sched_getaffinity(0))))
        _, text = self.run_study(torch_step, "--python", python, "--cases", "png", "--torch-threads", threads,
                                 "--rounds", "1")
        self.assertIn("Package: roentgen 9 (abc).", text)
        self.assertIn("20.00 (20.00 to 20.00) | 10.00 (10.00 to 10.00) | 2.00 (2.00 to 2.00) |", text)
        self.assertIn("1.010 (1.010 to 1.010) | 1.010 (1.010 to 1.010) | 1.000 (1.000 to 1.000) |", text)


if __name__ == "__main__":
    unittest.main()
