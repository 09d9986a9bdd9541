#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/auroc.csv: random cases with scikit-learn's AUROC for each.

  python3 -m venv venv && venv/bin/pip install scikit-learn
  venv/bin/python tools/peers/auroc_golden.py tests/golden/auroc.csv

A line `case,NAME,N,AUROC,WEIGHTED` opens a case; N lines `score,label,weight` follow. Scores are float32, written so
that they read back exactly; WEIGHTED is the AUROC with the integer weights as sample_weight.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import sys

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score


def cases(rng):
    """Yields the random cases as (name, scores, labels, weights)."""
    for name, count, levels, prevalence in [
        ("no_ties", 300, None, 0.3),
        ("rare_positives", 300, None, 0.01),
        ("ten_levels", 300, 10, 0.4),
        ("two_levels", 200, 2, 0.5),
        ("all_equal", 50, 1, 0.5),
        ("few", 7, 3, 0.5),
    ]:
        labels = (rng.random(count) < prevalence).astype(int)
        labels[:2] = [0, 1]
        scores = rng.normal(size=count) + labels
        if levels is not None:
            edges = np.quantile(scores, np.linspace(0, 1, levels + 1)[1:-1])
            scores = np.searchsorted(edges, scores) / levels
        yield name, scores.astype(np.float32), labels, rng.integers(1, 5, size=count)
    # Saturated sigmoids: many exact zeros and ones, and between them denormals and values that differ by one ulp.
    labels = np.arange(120) % 2
    scores = np.where(np.arange(120) % 5 == 0, 1.0, np.where(np.arange(120) % 7 == 0, 0.0, 0.5)).astype(np.float32)
    scores[30:40] = np.nextafter(np.float32(0.5), np.float32(1.0))
    scores[50:55] = np.float32(1e-45)
    yield "saturated", scores, labels, np.arange(120) % 3 + 1


def main():
    rng = np.random.default_rng(20240607)
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write(f"# made by tools/peers/auroc_golden.py with scikit-learn {sklearn.__version__}\n")
        for name, scores, labels, weights in cases(rng):
            plain = roc_auc_score(labels, scores.astype(np.float64))
            weighted = roc_auc_score(labels, scores.astype(np.float64), sample_weight=weights)
            out.write(f"case,{name},{len(scores)},{plain:.17g},{weighted:.17g}\n")
            for score, label, weight in zip(scores, labels, weights):
                out.write(f"{score:.9g},{label},{weight}\n")


if __name__ == "__main__":
    main()
