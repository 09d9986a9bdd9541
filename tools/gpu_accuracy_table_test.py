# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests the table of tools/gpu/accuracy.sh: differences of means, their bounds, and missing results."""
import contextlib
import io
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
import accuracy_table  # noqa: E402

CPU = [("cpu", "f32", seed, auroc) for seed, auroc in enumerate([0.990, 0.994, 0.998])]


def on_card(*aurocs, dtype="bf16"):
    return [("cuda", dtype, seed, auroc) for seed, auroc in enumerate(aurocs)]


class AccuracyTable(unittest.TestCase):
    def table(self, rows):
        """Printed rows and the status."""
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "aurocs.csv"
            path.write_text("device,dtype,seed,auroc\n" + "".join(",".join(map(str, row)) + "\n" for row in rows),
                            encoding="utf-8")
            sys.argv = ["accuracy_table.py", str(path)]
            with contextlib.redirect_stdout(printed):
                status = accuracy_table.main()
        return printed.getvalue(), status

    def test_the_bound_is_two_standard_errors_of_the_difference(self):
        # Variances 16e-6 each: 2 sqrt(2 * 16e-6 / 3).
        self.assertAlmostEqual(accuracy_table.bound([0.990, 0.994, 0.998], [0.90, 0.904, 0.908]),
                               2 * math.sqrt(2 * 16e-6 / 3), places=12)

    def test_the_bound_of_equal_seeds_is_not_zero(self):
        self.assertEqual(accuracy_table.bound([0.9] * 3, [0.9] * 3), 0.002)

    def test_a_small_difference_is_within(self):
        text, status = self.table(CPU + on_card(0.991, 0.995, 0.996))
        self.assertIn("| cuda | bf16 | 3 | 0.9940 | 0.0026 | +0.0000 | 0.0055 | within |", text)
        self.assertEqual(status, 0)

    def test_a_large_difference_of_one_type_is_told(self):
        text, status = self.table(on_card(0.99, 0.994, 0.998) + on_card(0.95, 0.951, 0.952, dtype="f16") + CPU)
        self.assertIn("| cuda | f16 | 3 | 0.9510 | 0.0010 | -0.0430 | 0.0048 | EXCEEDED |", text)
        self.assertEqual(status, 1)

    def test_one_seed_or_no_cpu_is_no_verdict(self):
        for rows in (CPU + on_card(0.99), on_card(0.99, 0.994, 0.998)):
            text, status = self.table(rows)
            self.assertIn("too few seeds", text)
            self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
