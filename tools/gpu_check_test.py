# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs tools/gpu/check.sh without a GPU, in a bundle whose programs are stubs: every part, a failed test, SIGTERM, and
jobs that all run into their limits."""
import os
import pathlib
import re
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
    row = {{"points": [{{"images_per_s": 800.0}}], "model": value("--model"), "batch": int(value("--batch")), "dtype": value("--dtype") if "--dtype" in words else "f32",
           "images_per_s": 800.0}}
    if words[1] == "infer":
        row = {{"model": row["model"], "dtype": row["dtype"], "batches": [{{"batch": row["batch"], "images_per_s": 900.0}}]}}
    else:
        row |= {{"algorithms": "auto", "recompute": "none", "peak_bytes": 2**30, "floor_ratio": 1.5, "first_step_s": 2.0,
                "plan_hash": "a", "checksum": "b"}}
    with open(value("--json"), "w") as file:
        json.dump(row, file)
"""
# Runs the scripts that make tables, and answers for PyTorch.
PYTHON = """#!/bin/sh
case $1 in
  */check_table.py | */check_ranks.py) exec {python} "$@" ;;
  *) echo '{{"what": "train", "model": "resnet50", "batch": 64, "dtype": "bf16", "mode": "eager", "images_per_s": 400.0}}' ;;
esac
"""
GPU_TEST = f"""#!/bin/sh
case "$*" in
  *--gtest_list_tests*) printf '{TESTS}' ;;
  *"$STUB_FAILURE"*) echo 'no such card'; exit 1 ;;
  *"$STUB_SKIP"*) echo 'a_test.cpp:1: Skipped'; echo 'NO CUDA DEVICE, NOTHING TESTED: no driver' ;;
  *) echo "shard $ROENTGEN_TEST_SHARD" ;;
esac
"""
# Clock and time limits for a card on which every job runs into its limit: `date` reads the file $STUB_CLOCK, and
# `timeout` moves its time to the end of the job.
DATE = """#!/bin/sh
exec flock "$STUB_CLOCK" cat "$STUB_CLOCK"
"""
TIMEOUT = r"""#!{python}
import fcntl, os, sys
with open(os.environ["STUB_CLOCK"], "r+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    end = int(os.environ["JOB_BEGIN"]) + int(sys.argv[3])  # timeout -k 5 LIMIT COMMAND...
    time = max(int(file.read()), end)
    file.seek(0)
    file.write(str(time))
sys.exit(124)
"""
# Seconds of each part, as the comment of check.sh states them.
SECONDS = {"tests": 240, "ranks": 180, "1": 360, "2": 360, "3": 360, "4": 360}


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bundle, self.out = pathlib.Path(folder.name) / "bundle", pathlib.Path(folder.name) / "out"
        (self.bundle / "bin").mkdir(parents=True)
        for name in ("check.sh", "check_table.py", "check_ranks.sh", "check_ranks.py", "jobs.sh"):
            shutil.copy(TOOLS / name, self.bundle / name)
        (self.bundle / "env.sh").write_text('PATH=$(dirname "${BASH_SOURCE[0]}")/bin:$PATH\n', encoding="utf-8")
        self.program("roentgen", ROENTGEN.format(python=sys.executable))
        self.program("python3", PYTHON.format(python=sys.executable))
        self.program("nvidia-smi", "#!/bin/sh\necho 'a card, 580.1, 1 MiB'\n")
        self.program("compute-sanitizer", "#!/bin/sh\necho 'no hazard'\n")
        for name in ("engine_cuda_gpu_test", "runtime_gpu_test", "dist_gpu_test", "kernels_bench"):
            self.program(name, GPU_TEST)
        self.program("mpirun", "#!/bin/sh\n")
        self.environment = {**os.environ, "STUB_FAILURE": "none", "STUB_SKIP": "none"}

    def program(self, name, text):
        path = self.bundle / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def check(self, part):
        return subprocess.run([self.bundle / "check.sh", self.out, part], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_every_part_ends_with_a_table(self):
        for part, row in (("tests", "| training | type |"), ("1", "| infer resnet50 b256 bf16 | 900 |"), ("1", "| train resnet50 b64 bf16 | 800 | 400 |"),
                          ("2", "| train densenet121 b256 f16 | 800 |"), ("3", "| densenet121 b256 | tf32 | none |"),
                          ("4", "| train inception_v4 b128 bf16 | 800 |")):
            with self.subTest(part=part):
                shutil.rmtree(self.out, ignore_errors=True)
                ended = self.check(part)
                self.assertEqual(ended.returncode, 0, ended.stdout)
                self.assertIn("Card: a card", ended.stdout)
                self.assertIn(row, (self.out / "table.md").read_text(encoding="utf-8"))
                self.assertNotIn("FAILED", ended.stdout)

    def test_part_1_repeats_cells(self):
        ended = self.check("1")
        for model in ("resnet50", "densenet121"):
            row = next(line for line in ended.stdout.splitlines() if line.startswith(f"| {model} b64 | bf16"))
            self.assertTrue(row.endswith("| 2.0, then 2.0 | yes |"), row)

    def test_part_tests_shards_tests(self):
        self.check("tests")
        for test in ("conforms_in_training", "conforms_in_training_in_bf16"):
            shards = {(self.out / f"test_{test}_{i}.log").read_text(encoding="utf-8") for i in range(4)}
            self.assertEqual(shards, {f"shard {i}/4\n" for i in range(4)})

    def test_a_failed_test_is_named_after_the_table(self):
        self.environment["STUB_FAILURE"] = "CudaEngine.conforms_in_training_in_bf16"
        ended = self.check("tests")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("test_conforms_in_training_in_bf16_0: FAILED with 1", ended.stdout)
        last = ended.stdout.splitlines()[-1]
        self.assertTrue(last.startswith("FAILED: test_conforms_in_training_in_bf16_"), last)
        self.assertIn("Card: a card", ended.stdout)

    def test_a_test_that_finds_no_card_has_failed(self):
        self.environment["STUB_SKIP"] = "CudaEngine.conforms_in_training_in_bf16"
        ended = self.check("tests")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        for shard in range(4):
            self.assertIn(f"test_conforms_in_training_in_bf16_{shard}: FAILED, NO CUDA DEVICE, NOTHING TESTED: no driver",
                          ended.stdout)
        named = ended.stdout.splitlines()[-1].removeprefix("FAILED: ").split()
        self.assertEqual(sorted(named), [f"test_conforms_in_training_in_bf16_{shard}" for shard in range(4)])

    def test_what_the_machine_or_the_bundle_lacks_has_failed(self):
        for program, part, job in (("compute-sanitizer", "tests", "memcheck_step"), ("kernels_bench", "3", "kernels"),
                                   ("engine_cuda_gpu_test", "tests", "test_CudaEngine")):
            with self.subTest(program=program):
                shutil.rmtree(self.out, ignore_errors=True)
                path = self.bundle / "bin" / program
                text = path.read_text(encoding="utf-8")
                path.unlink()
                ended = self.check(part)
                self.program(program, text)
                if shutil.which(program) and program == "compute-sanitizer":
                    continue  # this machine has it
                self.assertEqual(ended.returncode, 1, ended.stdout)
                self.assertIn(f"{job}: NOT RUN, ", ended.stdout)
                self.assertIn(job, ended.stdout.splitlines()[-1].split())

    def test_a_table_that_lacks_a_file_has_failed(self):
        self.program("nvidia-smi", "#!/bin/sh\nrm \"$(dirname \"$0\")/../../out/rows.jsonl\"\n")
        ended = self.check("tests")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("rows.jsonl: MISSING or damaged", ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "FAILED: table")

    def test_a_repeated_cell_that_fails_keeps_its_earlier_row(self):
        self.check("1")
        self.program("roentgen", "#!/bin/sh\necho '[cli.a] b: expected c, got d'\necho 'Exit code: 1'\necho ----\nexit 1\n")
        ended = self.check("1")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertRegex(ended.stdout, r"(?m)^step_resnet50_64_bf16: FAILED with 1 after \d+ s: \[cli.a\] b: expected c, got d$")
        self.assertIn("| train resnet50 b64 bf16 | 800 |", ended.stdout)

    def test_the_ranks_part_runs_check_ranks(self):
        ended = self.check("ranks")  # the stubs train nothing, so the comparison of losses fails
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("FAILED: ranks", ended.stdout)
        log = (self.out / "ranks.log").read_text(encoding="utf-8")
        for job in ("ranks_test", "ranks_synth", "ranks_train_nccl_bf16", "ranks_train_exchange_f16", "ranks_train_cpu",
                    "ranks_step_auto_0", "ranks_step_wide_0", "ranks_step_bf16_2"):
            self.assertRegex(log, rf"(?m)^{job}: \d+ s$")
        self.assertIn("| cost of NCCL, one rank, sent as f32 | +0.00% | 2% | pass |", log)
        self.assertIn("| rank 1 of two by NCCL is killed | no end of the run in ranks_strike_KILL.log |", log)
        self.assertIn("ranks_strike_KILL: FAILED with 1", log)
        self.assertIn("strike: the training ended before the signal", log)
        self.assertNotIn("ranks_train_one_", log)

    def test_no_part_lasts_longer_than_stated(self):
        clock = self.out.parent / "clock"
        self.environment["STUB_CLOCK"] = str(clock)
        self.program("date", DATE)
        self.program("timeout", TIMEOUT.format(python=sys.executable))
        head = (TOOLS / "check.sh").read_text(encoding="utf-8").split("set -uo")[0]
        stated = {name: 60 * int(minutes) for name, minutes in re.findall(r"PART (\w+): [^\n]* (\d) minutes", head)}
        self.assertEqual(stated, SECONDS)
        for part, seconds in SECONDS.items():
            with self.subTest(part=part):
                shutil.rmtree(self.out, ignore_errors=True)
                clock.write_text("1000", encoding="utf-8")
                ended = self.check(part)
                self.assertEqual(ended.returncode, 1, ended.stdout)
                self.assertLessEqual(int(clock.read_text(encoding="utf-8")), 1000 + seconds, ended.stdout)
                self.assertIn("Card: a card", ended.stdout)
                # The limits of a part sum to its time, so every job starts. In part 2, ours run beside jobs that last
                # almost as long as the part, and this test's clock adds the times.
                if part != "2":
                    self.assertNotIn("NOT RUN", ended.stdout)
                self.assertTrue(ended.stdout.splitlines()[-1].startswith("FAILED: "), ended.stdout)
        self.assertEqual(len(SECONDS), len(re.findall(r"begin_part (\d+)", (TOOLS / "check.sh").read_text(encoding="utf-8"))))

    def check_ranks(self, seconds):
        """Runs check_ranks.sh on a card on which every job runs into its limit. Returns its output and the time it took."""
        clock = self.out.parent / "clock"
        clock.write_text("1000", encoding="utf-8")
        self.environment["STUB_CLOCK"] = str(clock)
        self.program("date", DATE)
        self.program("timeout", TIMEOUT.format(python=sys.executable))
        self.environment["PATH"] = f"{self.bundle / 'bin'}:{self.environment['PATH']}"
        ended = subprocess.run([self.bundle / "check_ranks.sh", self.out, str(seconds)], env=self.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        return ended.stdout, int(clock.read_text(encoding="utf-8")) - 1000

    def test_check_ranks_ends_within_its_seconds(self):
        printed, seconds = self.check_ranks(55)
        self.assertEqual(seconds, 55, printed)
        for job in ("ranks_train_exchange_f16", "ranks_strike_STOP", "ranks_step_auto_0"):
            self.assertIn(f"{job}: NOT RUN", printed)
            self.assertIn(job, printed.splitlines()[-1].split())

    def test_check_ranks_starts_all_jobs_although_each_hangs(self):
        printed, seconds = self.check_ranks(170)
        self.assertEqual(seconds, 170, printed)
        missing = re.findall(r"(?m)^(\w+): NOT RUN", printed)
        self.assertEqual(missing, ["ranks_train_one_f32", "ranks_train_one_bf16", "ranks_train_one_f16"])  # the substitute
        self.assertIn("ranks_step_wide_0: FAILED with 124", printed)
        self.assertNotIn("ranks_step_auto_1", printed)

    def test_check_ranks_needs_its_gpu_test(self):
        (self.bundle / "bin/dist_gpu_test").unlink()
        printed, _ = self.check_ranks(20)
        self.assertIn(f"ranks_test: NOT RUN, there is no {self.bundle}/bin/dist_gpu_test", printed)
        self.assertIn("ranks_test", printed.splitlines()[-1].split())

    def test_an_unknown_part_is_refused(self):
        self.assertEqual(self.check("5").returncode, 2)

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
