# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of tools/gpu/check_ranks.py."""
import contextlib
import io
import json
import pathlib
import shutil
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "gpu"))
import check_ranks  # noqa: E402

NAMED = "[dist.mpi] gradient bucket 0: expected all 2 ranks within 6000 ms, got no sign of rank 1 (node); try again\n"


class Judge(unittest.TestCase):
    """Tests start from results that pass, and change or delete one of them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for way, rates in (("auto", (100, 101)), ("nccl", (99, 100)), ("bf16", (97, 98)), ("wide", (100, 101))):
            self.rates(way, rates)
        for run, losses in (("cpu", (0.7, 0.6002)), ("nccl_f32", (0.7, 0.6)), ("exchange_f32", (0.7, 0.600001)),
                            ("nccl_bf16", (0.7, 0.6005)), ("exchange_bf16", (0.7, 0.6005)),
                            ("nccl_f16", (0.7, 0.60005)), ("exchange_f16", (0.7, 0.60005))):
            self.run_of(run, losses)
        for signal in ("KILL", "STOP"):
            self.strike(signal)
        (self.folder / "ranks_train_nccl_f32.log").write_text("gradients are averaged by NCCL 2.28.9, sent as f32\n")

    def rates(self, way, rates):
        for path in self.folder.glob(f"ranks_step_{way}_*.json"):
            path.unlink()
        for round, rate in enumerate(rates):
            (self.folder / f"ranks_step_{way}_{round}.json").write_text(json.dumps({"points": [{"images_per_s": rate}]}))

    def run_of(self, run, losses, weights=b"weights."):
        folder = self.folder / f"ranks_{run}"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "checkpoints").mkdir(parents=True)
        lines = [{"kind": "step", "loss": loss} for loss in losses] + [{"kind": "epoch", "val_loss": 9.0}]
        (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        header = json.dumps({"__metadata__": {"run": run}, "a": {"dtype": "U8", "data_offsets": [0, 3]},
                             "b": {"dtype": "U8", "data_offsets": [3, len(weights)]}}).encode()
        (folder / "checkpoints/resume.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + weights)

    def strike(self, signal, code=1, seconds=7, said=NAMED):
        (self.folder / f"ranks_strike_{signal}.log").write_text(
            f"{said}strike: exit code {code}, {seconds} s after SIG{signal} to rank 1\n")

    def judge(self):
        """Exit code, and each row of the table without the first column, by the first column."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            code = check_ranks.main(self.folder)
        self.printed = text.getvalue()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in self.printed.splitlines()
                if line.startswith("| ")]
        return code, {row[0]: tuple(row[1:]) for row in rows[1:]}

    def expect_failure(self, check, result, verdict="FAIL"):
        """Expects that one check fails, and that all others pass."""
        code, rows = self.judge()
        self.assertEqual(code, 1, self.printed)
        self.assertEqual((rows[check][0], rows[check][-1]), (result, verdict), self.printed)
        self.assertEqual({name for name, row in rows.items() if row[-1] != "pass"}, {check}, self.printed)
        self.assertIn("\n1 checks failed or had no results.\n", self.printed)

    def test_good_results_pass(self):
        code, rows = self.judge()
        self.assertEqual(code, 0, self.printed)
        self.assertIn("Averaged by NCCL 2.28.9.\n", self.printed)
        self.assertEqual(rows, {
            "losses of two ranks on one GPU, f32, by NCCL and by the host": ("2 updates, 1.0e-06 apart", "1e-05", "pass"),
            "losses of two ranks on one GPU, bf16, by NCCL and by the host": ("2 updates, 0.0e+00 apart", "0", "pass"),
            "losses of two ranks on one GPU, f16, by NCCL and by the host": ("2 updates, 0.0e+00 apart", "0", "pass"),
            "weights of two ranks on one GPU, bf16, by NCCL and by the host": ("0 of 2 tensors differ", "same bits", "pass"),
            "weights of two ranks on one GPU, f16, by NCCL and by the host": ("0 of 2 tensors differ", "same bits", "pass"),
            "losses of two ranks on one GPU by NCCL, bf16 and f32": ("2 updates, 5.0e-04 apart", "1e-03, not 0", "pass"),
            "losses of two ranks on one GPU by NCCL, f16 and f32": ("2 updates, 5.0e-05 apart", "1e-04, not 0", "pass"),
            "rank 1 of two by NCCL is killed": ("exit code 1 after 7 s, named", "an error that names it, 12 s", "pass"),
            "rank 1 of two by NCCL is stopped": ("exit code 1 after 7 s, named", "an error that names it, 12 s", "pass"),
            "losses of two ranks, on one GPU and on the CPU": ("2 updates, 2.0e-04 apart", "1e-03", "pass"),
            "cost of NCCL, one rank, sent as f32": ("+1.01%", "2%", "pass"),
            "cost of NCCL, one rank, sent as bf16": ("+3.08%", "4%", "pass"),
            "cost of NCCL, one rank, sent as f32, buckets of 25 MiB": ("+0.00%", "2%", "pass")})

    def test_a_slow_step_fails(self):
        self.rates("nccl", (97, 97))
        self.expect_failure("cost of NCCL, one rank, sent as f32", "+3.61%")

    def test_a_slow_step_in_16_bits_fails(self):
        self.rates("bf16", (95, 95))
        self.expect_failure("cost of NCCL, one rank, sent as bf16", "+5.79%")

    def test_a_step_that_is_too_fast_was_not_measured_well(self):
        self.rates("wide", (103, 104))
        self.expect_failure("cost of NCCL, one rank, sent as f32, buckets of 25 MiB", "-2.90%")

    def test_only_rounds_with_both_measurements_count(self):
        self.rates("nccl", (99,))
        self.assertEqual(self.judge()[1]["cost of NCCL, one rank, sent as f32"][0], "+1.01%")

    def test_other_losses_fail(self):
        self.run_of("cpu", (0.7, 0.602))
        self.expect_failure("losses of two ranks, on one GPU and on the CPU", "2 updates, 2.0e-03 apart")
        self.setUp()
        self.run_of("nccl_f32", (0.7, 0.60002))
        self.expect_failure("losses of two ranks on one GPU, f32, by NCCL and by the host", "2 updates, 1.9e-05 apart")
        self.setUp()
        self.run_of("exchange_bf16", (0.7, 0.6005001))
        self.expect_failure("losses of two ranks on one GPU, bf16, by NCCL and by the host", "2 updates, 1.0e-07 apart")

    def test_other_bits_fail(self):
        self.run_of("nccl_f16", (0.7, 0.60005), b"weighty.")
        self.expect_failure("weights of two ranks on one GPU, f16, by NCCL and by the host", "1 of 2 tensors differ")

    def test_losses_that_are_not_rounded_or_too_much_fail(self):
        for loss, apart in ((0.6, "0.0e+00"), (0.602, "2.0e-03")):
            for way in ("nccl", "exchange"):
                self.run_of(f"{way}_bf16", (0.7, loss))
            self.expect_failure("losses of two ranks on one GPU by NCCL, bf16 and f32", f"2 updates, {apart} apart")

    def test_a_rank_that_is_not_named_or_ends_late_or_without_error_fails(self):
        for fault, result in (({"said": "mpirun: rank 1 exited on signal 9\n"}, "exit code 1 after 7 s, NOT named"),
                              ({"seconds": 13}, "exit code 1 after 13 s, named"),
                              ({"code": 0}, "exit code 0 after 7 s, named")):
            self.strike("KILL", **fault)
            self.expect_failure("rank 1 of two by NCCL is killed", result)

    def test_a_run_without_end_is_missing(self):
        (self.folder / "ranks_strike_STOP.log").write_text(NAMED)
        self.expect_failure("rank 1 of two by NCCL is stopped", "no end of the run in ranks_strike_STOP.log", "MISSING")

    def test_missing_or_damaged_results_cost_only_their_rows(self):
        (self.folder / "ranks_step_wide_0.json").unlink()
        (self.folder / "ranks_step_wide_1.json").write_text("{")
        (self.folder / "ranks_cpu/log.jsonl").unlink()
        (self.folder / "ranks_strike_KILL.log").unlink()
        (self.folder / "ranks_nccl_f16/checkpoints/resume.safetensors").write_bytes(b"")
        self.run_of("exchange_bf16", (0.7,))
        code, rows = self.judge()
        self.assertEqual(code, 1)
        self.assertEqual({name: row[0] for name, row in rows.items() if row[-1] != "pass"}, {
            "losses of two ranks on one GPU, bf16, by NCCL and by the host": "2 updates of nccl_bf16 and 1 of exchange_bf16",
            "weights of two ranks on one GPU, f16, by NCCL and by the host":
                "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            "rank 1 of two by NCCL is killed": "no ranks_strike_KILL.log",
            "losses of two ranks, on one GPU and on the CPU": "no run ranks_cpu",
            "cost of NCCL, one rank, sent as f32, buckets of 25 MiB":
                "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"})
        self.assertIn("\n5 checks failed or had no results.\n", self.printed)

    def test_an_empty_folder_is_no_success(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        code, rows = self.judge()
        self.assertEqual(code, 1)
        self.assertEqual({row[-1] for row in rows.values()}, {"MISSING"})
        self.assertIn("Averaged by an unknown library.", self.printed)

    def test_runs_of_one_rank_are_judged_if_they_exist(self):
        for wire, losses in (("f32", (0.7, 0.6)), ("bf16", (0.7, 0.6005)), ("f16", (0.7, 0.602))):
            self.run_of(f"one_{wire}", losses)
        self.expect_failure("losses of one rank by NCCL, f16 and f32", "2 updates, 2.0e-03 apart")


if __name__ == "__main__":
    unittest.main()
