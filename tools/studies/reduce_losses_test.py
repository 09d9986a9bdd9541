# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of reduce_losses.py."""
import unittest

import reduce_losses

LOSSES = {"allreduce": {"0": [1.0] * 10 + [0.5] * 10, "1": [0.9] * 20},
          "tree": {"0": [1.0] * 10 + [0.5] * 9 + [0.51], "1": [0.9] * 20}}


class Losses(unittest.TestCase):
    def test_are_those_of_updates_alone(self):
        log = '{"kind": "step", "loss": 1.5}\n{"kind": "epoch", "val_loss": 2}\n{"kind": "step", "loss": 1.25}\n'
        self.assertEqual(reduce_losses.losses_of(log), [1.5, 1.25])

    def test_of_another_number_of_updates_are_refused(self):
        with self.assertRaises(SystemExit):
            reduce_losses.largest_difference([1.0], [1.0, 2.0])

    def test_the_table_has_last_losses_and_differences_beside_those_of_seeds(self):
        text = reduce_losses.table(LOSSES)
        self.assertIn("| `allreduce` | 0.500000 | 0.900000 |  |\n", text)
        self.assertIn("| `tree` | 0.501000 | 0.900000 | 1.0e-02 |\n", text)
        self.assertIn("the last 10 of 20 updates (the first update's: 0.9500); two seeds are at least 4.0e-01 apart", text)


if __name__ == "__main__":
    unittest.main()
