# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Ranks and their correlation, for the scripts of this folder. Needs Python only."""
import statistics


def ranks(values):
    """Rank of each value, 1 for the greatest; equal values share the mean of their ranks."""
    return [sum(w > v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


def spearman(a, b):
    return statistics.correlation(ranks(a), ranks(b))
