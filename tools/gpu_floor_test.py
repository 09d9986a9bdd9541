# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""The least time of a step by tools/gpu/floor.py: arithmetic or bytes, whichever takes longer, and the optimizer."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
import floor  # noqa: E402

PLAN = {"model": "net", "batch": 10, "dtype": "bf16", "parameters_bytes": 4000,
        "entries": [{"kind": "conv", "flops": 6000, "bytes": 1000}, {"kind": "conv", "flops": 1000, "bytes": 4000},
                    {"kind": "norm", "flops": 0, "bytes": 2000}]}


class Floor(unittest.TestCase):
    def test_the_longer_of_arithmetic_and_bytes_counts(self):
        table = floor.rows(PLAN, flops_per_s=1e3, bytes_per_s=1e3)
        self.assertEqual([(row[0], row[1], row[4]) for row in table],
                         [("optimizer", 1, 20e3), ("conv", 2, 10e3), ("norm", 1, 2e3)])

    def test_the_last_line_has_the_time_of_a_step_and_the_speed(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            path = pathlib.Path(folder) / "plan.json"
            path.write_text(json.dumps(PLAN), encoding="utf-8")
            sys.argv = ["floor.py", str(path), "--tflops", "1e-9", "--tb-per-s", "1e-9"]
            floor.main()
        self.assertIn("net, batch 10, bf16: at least 32000.00 ms a step, at most 0 images/s", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
