# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs tools/gpu/check.sh without a GPU, in a bundle whose programs are stubs: every part, a failed test, and SIGTERM."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent / "gpu"
TESTS = "CudaEngine.\n  conforms_in_training\n  conforms_in_training_in_bf16\n"
# Answers `bench step --json FILE` and `bench infer --json FILE`. Opens $STUB_FIFO first, if set, and so waits for the test.
ROENTGEN = r"""#!{python}
import json, os, sys
words = sys.argv[1:]
if "--json" in words:
    if "STUB_FIFO" in os.environ:
        open(os.environ["STUB_FIFO"]).read()
    value = lambda name: words[words.index(name) + 1]
    row = {{"model": value("--model"), "batch": int(value("--batch")), "dtype": value("--dtype"), "images_per_s": 800.0}}
    if words[1] == "infer":
        row = {{"model": row["model"], "dtype": row["dtype"], "batches": [{{"batch": row["batch"], "images_per_s": 900.0}}]}}
    else:
        row |= {{"algorithms": "auto", "recompute": "none", "peak_bytes": 2**30, "floor_ratio": 1.5, "first_step_s": 2.0,
                "plan_hash": "a", "checksum": "b"}}
    with open(value("--json"), "w") as file:
        json.dump(row, file)
"""
# Runs check_table.py, and answers for PyTorch.
PYTHON = """#!/bin/sh
case $1 in
  */check_table.py) exec {python} "$@" ;;
  *) echo '{{"what": "train", "model": "resnet50", "batch": 64, "dtype": "bf16", "mode": "eager", "images_per_s": 400.0}}' ;;
esac
"""
GPU_TEST = f"""#!/bin/sh
case "$*" in
  *--gtest_list_tests*) printf '{TESTS}' ;;
  *"$STUB_FAILURE"*) echo 'no such card'; exit 1 ;;
  *) echo "shard $ROENTGEN_TEST_SHARD" ;;
esac
"""


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bundle, self.out = pathlib.Path(folder.name) / "bundle", pathlib.Path(folder.name) / "out"
        (self.bundle / "bin").mkdir(parents=True)
        for name in ("check.sh", "check_table.py"):
            shutil.copy(TOOLS / name, self.bundle / name)
        (self.bundle / "env.sh").write_text('PATH=$(dirname "${BASH_SOURCE[0]}")/bin:$PATH\n', encoding="utf-8")
        self.program("roentgen", ROENTGEN.format(python=sys.executable))
        self.program("python3", PYTHON.format(python=sys.executable))
        self.program("nvidia-smi", "#!/bin/sh\necho 'a card, 580.1, 1 MiB'\n")
        self.program("compute-sanitizer", "#!/bin/sh\necho 'no hazard'\n")
        for name in ("engine_cuda_gpu_test", "runtime_gpu_test", "kernels_bench"):
            self.program(name, GPU_TEST)
        self.environment = {**os.environ, "STUB_FAILURE": "none"}

    def program(self, name, text):
        path = self.bundle / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def check(self, part):
        return subprocess.run([self.bundle / "check.sh", self.out, part], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_every_part_ends_with_a_table(self):
        for part, row in (("open", "| infer resnet50 b256 bf16 | 900 |"), ("1", "| train resnet50 b64 bf16 | 800 | 400 |"),
                          ("2", "| train densenet121 b256 bf16 | 800 |"), ("3", "| densenet121 b256 | tf32 | none |")):
            with self.subTest(part=part):
                shutil.rmtree(self.out, ignore_errors=True)
                ended = self.check(part)
                self.assertEqual(ended.returncode, 0, ended.stdout)
                self.assertIn("Card: a card", ended.stdout)
                self.assertIn(row, (self.out / "table.md").read_text(encoding="utf-8"))
                self.assertNotIn("FAILED", ended.stdout)

    def test_part_1_repeats_cells_and_shards_tests(self):
        ended = self.check("1")
        for model in ("resnet50", "densenet121"):
            row = next(line for line in ended.stdout.splitlines() if line.startswith(f"| {model} b64 | bf16"))
            self.assertTrue(row.endswith("| 2.0, then 2.0 | yes |"), row)
        for test in ("conforms_in_training", "conforms_in_training_in_bf16"):
            shards = {(self.out / f"test_{test}_{i}.log").read_text(encoding="utf-8") for i in range(4)}
            self.assertEqual(shards, {f"shard {i}/4\n" for i in range(4)})

    def test_a_failed_test_is_named_after_the_table(self):
        self.environment["STUB_FAILURE"] = "CudaEngine.conforms_in_training_in_bf16"
        ended = self.check("open")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("test_conforms_in_training_in_bf16_0: FAILED with 1", ended.stdout)
        last = ended.stdout.splitlines()[-1]
        self.assertTrue(last.startswith("FAILED: test_conforms_in_training_in_bf16_"), last)
        self.assertIn("Card: a card", ended.stdout)

    def test_sigterm_still_prints_the_table(self):
        fifo = self.out.parent / "fifo"
        os.mkfifo(fifo)
        self.environment["STUB_FIFO"] = str(fifo)
        with subprocess.Popen([self.bundle / "check.sh", self.out, "2"], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
            with fifo.open("w", encoding="utf-8"):  # opens when the first cell reads
                running.send_signal(signal.SIGTERM)
                printed = running.communicate(timeout=60)[0]
        self.assertEqual(running.returncode, 143, printed)
        self.assertIn("Card: a card", printed)


if __name__ == "__main__":
    unittest.main()
