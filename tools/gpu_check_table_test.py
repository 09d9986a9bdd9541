# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests the tables of tools/gpu/check.sh: our fastest type, each mode of PyTorch, all our runs, and missing results."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
import check_table  # noqa: E402


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "card.txt").write_text("a card\n", encoding="utf-8")
        (self.folder / "rows.jsonl").write_text("", encoding="utf-8")
        self.status = None
        check_table.damaged.clear()

    def ours(self, name, **result):
        (self.folder / name).write_text(json.dumps(result), encoding="utf-8")

    def step(self, name, **changes):
        self.ours(name, **{"model": "resnet50", "batch": 256, "dtype": "bf16", "images_per_s": 800.0, "algorithms": "auto",
                           "recompute": "auto", "peak_bytes": 11 * 2**30, "floor_ratio": 1.5, "first_step_s": 20.0,
                           "plan_hash": "a", "checksum": "b", **changes})

    def peer(self, **row):
        with (self.folder / "rows.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": "train", "model": "resnet50", "batch": 256, **row}) + "\n")

    def table(self):
        printed, errors = io.StringIO(), io.StringIO()
        sys.argv = ["check_table.py", str(self.folder)]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            self.status = check_table.main()
        return printed.getvalue(), errors.getvalue()

    def test_ratios_are_to_the_best_mode_and_to_eager(self):
        self.step("step_resnet50_256_bf16.json")
        self.step("step_resnet50_256_f16.json", dtype="f16", images_per_s=900.0)
        self.peer(dtype="bf16", mode="eager", images_per_s=450.0)
        self.peer(dtype="fp16", mode="compile+graph", images_per_s=750.0)
        self.assertIn("| train resnet50 b256 f16 | 900 | 750 | fp16 compile+graph | 1.20 (1.20) | 450 | 2.00 (1.75) |",
                      self.table()[0])

    def test_a_cell_without_a_peer_has_no_ratio(self):
        self.ours("infer_resnet50_1_bf16.json", model="resnet50", dtype="bf16",
                  batches=[{"batch": 1, "images_per_s": 2000.0}])
        self.assertIn("| infer resnet50 b1 bf16 | 2,000 | - | - | - | - | - |", self.table()[0])

    def test_batch_400_stands_beside_mlperf(self):
        self.step("step_resnet50_400_bf16.json", batch=400, images_per_s=7942.0)
        self.assertIn("| the same, MLPerf v4.0 | 7,942 | 7,942 | MXNet, per H200 | 1.00 | - | - |", self.table()[0])

    def test_every_run_has_memory_first_step_and_the_peer_of_its_type(self):
        self.step("step_resnet50_256_tf32.json", dtype="tf32", images_per_s=500.0)
        self.step("step_resnet50_256_bf16_recompute_all.json", recompute="all", peak_bytes=7 * 2**30)
        self.peer(dtype="f32", mode="eager", images_per_s=250.0, peak_gib=14.0)
        self.peer(dtype="bf16", mode="eager", images_per_s=400.0, peak_gib=10.0)
        table = self.table()[0]
        self.assertIn("| resnet50 b256 | tf32 | none | auto | 500 | 250 | 2.00 | 11.0 | 1.10 | 1.50 | 20.0 | - |", table)
        self.assertIn("| resnet50 b256 | bf16 | all | auto | 800 | 400 | 2.00 | 7.0 | 0.70 (0.75) | 1.50 | 20.0 | - |", table)

    def test_a_repeated_run_shows_both_first_steps_and_whether_bits_are_the_same(self):
        for checksum, said in (("b", "yes"), ("c", "NO")):
            self.step("first_step_resnet50_256_bf16.json")
            self.step("step_resnet50_256_bf16.json", first_step_s=4.0, checksum=checksum)
            self.assertIn(f"| 11.0 | - | 1.50 | 20.0, then 4.0 | {said} |", self.table()[0])
        self.step("step_resnet50_256_bf16.json", plan_hash="d", floor_ratio=None)
        self.assertIn("| - | - | 20.0, then 20.0 | - |", self.table()[0])

    def test_a_damaged_file_costs_only_its_own_row(self):
        self.step("step_resnet50_256_bf16.json")
        row = "| train resnet50 b256 bf16 | 800 | - | - | - | - | - |"
        self.assertIn(row, self.table()[0])
        self.assertEqual(self.status, 0)
        for text, reason in (("", "Expecting value"), ('{"model": "resnet50"}', "no batch, dtype, "), ("3", "not iterable")):
            check_table.damaged.clear()
            (self.folder / "step_vgg16_128_bf16.json").write_text(text, encoding="utf-8")
            table = self.table()[0]
            self.assertIn(row, table)
            self.assertRegex(table, rf"\n\nstep_vgg16_128_bf16.json: MISSING or damaged: .*{reason}")
            self.assertEqual(self.status, 1)

    def test_missing_lists_and_half_lines_are_named(self):
        self.step("step_resnet50_256_bf16.json")
        self.peer(dtype="bf16", mode="eager", images_per_s=400.0)
        with (self.folder / "rows.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"what": "train", "mod')
        table = self.table()[0]
        self.assertIn("| train resnet50 b256 bf16 | 800 | 400 |", table)
        self.assertIn("rows.jsonl: MISSING or damaged: ", table)
        self.assertEqual(self.status, 1)
        for name in ("rows.jsonl", "card.txt"):
            check_table.damaged.clear()
            (self.folder / name).unlink()
            table = self.table()[0]
            self.assertIn("| train resnet50 b256 bf16 | 800 |", table)
            self.assertIn(f"{name}: MISSING or damaged: No such file", table)
            self.assertEqual(self.status, 1)

    def test_a_peer_that_failed_is_named(self):
        self.peer(cell="resnet50:256:bf16:eager", error="out of memory")
        self.assertIn("resnet50:256:bf16:eager: out of memory", self.table()[1])


if __name__ == "__main__":
    unittest.main()
