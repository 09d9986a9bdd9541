# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests the table of tools/gpu/check.sh: our fastest type, each mode of PyTorch, and missing results."""
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

    def ours(self, name, **result):
        (self.folder / name).write_text(json.dumps(result), encoding="utf-8")

    def peer(self, **row):
        with (self.folder / "rows.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": "train", "model": "resnet50", "batch": 256, **row}) + "\n")

    def table(self):
        printed, errors = io.StringIO(), io.StringIO()
        sys.argv = ["check_table.py", str(self.folder)]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            check_table.main()
        return printed.getvalue(), errors.getvalue()

    def test_ratios_are_to_the_best_mode_and_to_eager(self):
        self.ours("step_resnet50_256_bf16.json", model="resnet50", batch=256, dtype="bf16", images_per_s=800.0)
        self.ours("step_resnet50_256_f16.json", model="resnet50", batch=256, dtype="f16", images_per_s=900.0)
        self.peer(dtype="bf16", mode="eager", images_per_s=450.0)
        self.peer(dtype="fp16", mode="compile+graph", images_per_s=750.0)
        self.assertIn("| train resnet50 b256 f16 | 900 | 750 | fp16 compile+graph | 1.20 (1.20) | 450 | 2.00 (1.75) |",
                      self.table()[0])

    def test_a_cell_without_a_peer_has_no_ratio(self):
        self.ours("infer_resnet50_1_bf16.json", model="resnet50", dtype="bf16",
                  batches=[{"batch": 1, "images_per_s": 2000.0}])
        self.assertIn("| infer resnet50 b1 bf16 | 2,000 | - | - | - | - | - |", self.table()[0])

    def test_a_peer_that_failed_is_named(self):
        self.peer(cell="resnet50:256:bf16:eager", error="out of memory")
        self.assertIn("resnet50:256:bf16:eager: out of memory", self.table()[1])


if __name__ == "__main__":
    unittest.main()
