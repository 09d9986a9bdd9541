# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of memory.py."""
import unittest

import memory

RESULT = {"memory": {"measured_bytes": 100 << 20, "parameters_bytes": 10 << 20, "gradients_bytes": 10 << 20,
                     "optimizer_bytes": 10 << 20, "inputs_bytes": 30 << 20, "activations_bytes": 38 << 20}}
STEPS = {"none": [100, 50, 80], "all": [110, 60, 84]}


class Memory(unittest.TestCase):
    def test_counts_activations_alone_and_the_median_cost_of_rounds(self):
        row = memory.row_of("all", RESULT, STEPS, {"activation_bytes": 80 << 20})
        self.assertEqual((row["activation_bytes"], row["of_peer"]), (40 << 20, 0.5))
        self.assertAlmostEqual(row["cost"], 0.1)
        self.assertIn("| all | 38 | 40 | 0.50 | +10.0% |", memory.markdown([row]))

    def test_no_peer_is_no_ratio(self):
        self.assertIn("| none | 38 | 40 | - | +0.0% |", memory.markdown([memory.row_of("none", RESULT, STEPS, None)]))


if __name__ == "__main__":
    unittest.main()
