# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import unittest

from ranks import ranks, spearman


class Ranks(unittest.TestCase):
    def test_first_is_the_greatest_and_ties_share_the_mean(self):
        self.assertEqual(ranks([1, 2, 2, 5]), [4, 2.5, 2.5, 1])

    def test_correlation_of_orders(self):
        self.assertAlmostEqual(spearman([1, 2, 3], [10, 20, 70]), 1)
        self.assertAlmostEqual(spearman([1, 2, 3], [70, 20, 10]), -1)
        # 1 - 6 * (0 + 1 + 1) / (3 * 8)
        self.assertAlmostEqual(spearman([1, 2, 3], [1, 3, 2]), 0.5)


if __name__ == "__main__":
    unittest.main()
