#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Trains a linear model on 32x32 pixels of a data set in NIH's layout, to show that a synthetic set is not too easy.
Prints its test AUROC per finding, and the ceiling if there is a truth.csv.

  tools/peers/synth_linear_probe.py DATA_DIR [--size 32] [--limit MEAN]

One logistic regression per finding on all train_val images, pixels averaged down to 32x32 and standardised; the ridge
penalty is chosen on the last 15% of them, then all are used. Exits 1 when the mean reaches --limit.
Needs PyTorch, NumPy and Pillow (Debian: python3-torch python3-numpy python3-pil).
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import csv
import pathlib
import sys

import numpy as np
import torch
from PIL import Image

LABELS = ("Atelectasis Cardiomegaly Effusion Infiltration Mass Nodule Pneumonia Pneumothorax Consolidation Edema "
          "Emphysema Fibrosis Pleural_Thickening Hernia").split()
PENALTIES = (3e-3, 1e-2, 3e-2)


def auroc(scores, labels):
    """AUROC as the Mann-Whitney statistic with mid-ranks; NaN if a class is absent."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if positives == 0 or negatives == 0:
        return float("nan")
    return (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def read(root):
    """Labels (name -> row of 14), names of the two lists, and severities by name (empty without truth.csv)."""
    labels = {}
    with open(root / "Data_Entry_2017_v2020.csv", encoding="utf-8") as file:
        for row in list(csv.reader(file))[1:]:
            found = set(row[1].split("|"))
            labels[row[0]] = [float(name in found) for name in LABELS]
    lists = [(root / name).read_text(encoding="utf-8").split() for name in ("train_val_list.txt", "test_list.txt")]
    truth = {}
    if (root / "truth.csv").exists():
        with open(root / "truth.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                truth[row["Image Index"]] = [float(row[name]) for name in LABELS]
    return labels, lists, truth


def pixels(root, names, size):
    rows = []
    for name in names:
        with Image.open(root / "images" / name) as image:
            rows.append(np.asarray(image.convert("L").resize((size, size), Image.BOX), dtype=np.float32).ravel())
    return np.stack(rows)


def fit(features, labels, penalty):
    """Weights and biases of independent logistic regressions, one per finding, fitted at once."""
    weights = torch.zeros(features.shape[1], labels.shape[1], requires_grad=True)
    bias = torch.zeros(labels.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=150, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(features @ weights + bias, labels, reduction="none")
        total = loss.sum(1).mean() + penalty * (weights**2).sum()
        total.backward()
        return total

    optimizer.step(closure)
    return weights.detach(), bias.detach()


def score(model, features, labels):
    logits = (features @ model[0] + model[1]).numpy()
    return [auroc(logits[:, i], labels[:, i].numpy()) for i in range(labels.shape[1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--limit", type=float, help="exit 1 when the mean AUROC is not below this")
    arguments = parser.parse_args()
    labels, lists, truth = read(arguments.data)
    train, test = (pixels(arguments.data, names, arguments.size) for names in lists)
    mean, deviation = train.mean(0), train.std(0) + 1e-3
    train, test = (torch.from_numpy((part - mean) / deviation) for part in (train, test))
    train_labels, test_labels = (torch.tensor([labels[name] for name in names]) for names in lists)

    cut = int(0.85 * len(train))  # lists are sorted by patient, so at most one patient is on both sides
    tried = {penalty: np.nanmean(score(fit(train[:cut], train_labels[:cut], penalty), train[cut:], train_labels[cut:]))
             for penalty in PENALTIES}
    penalty = max(tried, key=tried.get)
    result = score(fit(train, train_labels, penalty), test, test_labels)
    ceilings = [float("nan")] * len(LABELS)
    if truth:
        severity = np.array([truth[name] for name in lists[1]])
        ceilings = [auroc(severity[:, i], test_labels[:, i].numpy()) for i in range(len(LABELS))]
    print(f"{len(train)} train_val and {len(test)} test images, {arguments.size}x{arguments.size}, penalty {penalty:g}")
    for name, value, ceiling in zip(LABELS, result, ceilings):
        print(f"{name:20s} linear {value:.3f}   ceiling {ceiling:.3f}")
    print(f"mean                 linear {np.nanmean(result):.4f}  ceiling {np.nanmean(ceilings):.4f}")
    return 1 if arguments.limit is not None and not np.nanmean(result) < arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
