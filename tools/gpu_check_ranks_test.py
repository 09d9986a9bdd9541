# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of tools/gpu/check_ranks.py."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "gpu"))
import check_ranks  # noqa: E402


class Judge(unittest.TestCase):
    def judge(self, without, with_nccl, cpu, cuda, bf16=(0.7, 0.6005), in_bf16=None):
        """Exit code and table of a folder with these images/s and losses. One rank has the losses 0.7 and 0.6 in f32."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for reduce, rates in (("auto", without), ("nccl", with_nccl), ("bf16", in_bf16 or with_nccl)):
                for round, rate in enumerate(rates):
                    (folder / f"ranks_step_{reduce}_{round}.json").write_text(
                        json.dumps({"points": [{"images_per_s": rate}]}))
            for run, losses in (("cpu", cpu), ("cuda", cuda), ("f32", (0.7, 0.6)), ("bf16", bf16), ("f16", (0.7, 0.60005))):
                (folder / f"ranks_{run}").mkdir()
                lines = [{"kind": "step", "loss": loss} for loss in losses] + [{"kind": "epoch", "val_loss": 9.0}]
                (folder / f"ranks_{run}/log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                code = check_ranks.main(folder)
            return code, text.getvalue()

    def test_small_costs_and_differences_pass(self):
        code, text = self.judge([100, 101, 102], [99, 100, 101], [0.7, 0.6], [0.7, 0.6002])
        self.assertEqual(code, 0)
        for wire in ("f32", "bf16"):
            self.assertIn(f"| cost of NCCL, one rank, sent as {wire} | +1.00% | 2% |", text)
        self.assertIn("| losses of 2 updates, two ranks on one GPU and on the CPU | 2.0e-04 apart | 1e-03 |", text)
        self.assertIn("| losses of 2 updates, one rank, bf16 and f32 | 5.0e-04 apart, not 0 | 1e-03 |", text)
        self.assertIn("| losses of 2 updates, one rank, f16 and f32 | 5.0e-05 apart, not 0 | 1e-04 |", text)

    def test_a_slow_step_fails(self):
        self.assertEqual(self.judge([100, 100, 100], [97, 97, 100], [0.7], [0.7])[0], 1)

    def test_a_slow_step_in_16_bits_fails(self):
        self.assertEqual(self.judge([100], [100], [0.7], [0.7], in_bf16=[97])[0], 1)

    def test_losses_that_are_not_rounded_or_too_much_fail(self):
        for bf16 in ((0.7, 0.6), (0.7, 0.602)):
            self.assertEqual(self.judge([100], [100], [0.7], [0.7], bf16=bf16)[0], 1)

    def test_other_losses_fail(self):
        self.assertEqual(self.judge([100], [100], [0.7, 0.6], [0.7, 0.602])[0], 1)

    def test_missing_results_are_no_success(self):
        for without, with_nccl, cpu, cuda in (([], [], [1], [1]), ([1, 1], [1], [1], [1]), ([1], [1], [1, 2], [1]),
                                              ([1], [1], [], [])):
            with self.assertRaises(SystemExit):
                self.judge(without, with_nccl, cpu, cuda)


if __name__ == "__main__":
    unittest.main()
