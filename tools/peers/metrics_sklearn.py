#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/metrics.csv: random cases, most with heavy ties, with scikit-learn's figures beside them.

  python3 -m venv venv && venv/bin/pip install scikit-learn
  venv/bin/python tools/peers/metrics_sklearn.py tests/golden/metrics.csv

Or compares an evaluation of ours with scikit-learn, metric by metric, and fails if a difference exceeds 1e-12:

  roentgen eval --predictions preds.csv --labels Data_Entry.csv --validation val.csv --metrics all --json eval.json
  venv/bin/python tools/peers/metrics_sklearn.py --check preds.csv Data_Entry.csv eval.json

A line `case,NAME,N,THRESHOLD` opens a case; lines `value,KEY,VALUE` follow, then N lines `score,label,weight`. Scores
are float32, written so that they read back exactly. Keys that start with weighted_ use the integer weights as
sample_weight. ece and the softmax block at the end (`softmax,N,K`, values, N lines `truth,p,p,...`) have no function in
scikit-learn, or one whose ties depend on the order of classes: they are computed here from their definitions.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import csv
import json
import sys

import numpy as np
import sklearn
from scipy.optimize import minimize_scalar
from scipy.special import logit, softmax
from sklearn import metrics

BINS = 15


def cases(rng):
    """Yields the random cases as (name, scores, labels, weights, threshold)."""
    for name, count, levels, share in [
        ("no_ties", 150, None, 0.3),
        ("rare_positives", 150, 20, 0.02),
        ("ten_levels", 200, 10, 0.4),
        ("two_levels", 100, 2, 0.5),
        ("all_equal", 30, 1, 0.5),
        ("few", 7, 3, 0.5),
    ]:
        labels = (rng.random(count) < share).astype(int)
        labels[:2] = [0, 1]
        scores = 1 / (1 + np.exp(-rng.normal(size=count) - 1.5 * labels + 0.7))
        if levels is not None:
            scores = np.round(scores * levels) / levels if levels > 1 else np.full(count, 0.25)
        scores = scores.astype(np.float32)
        yield name, scores, labels, rng.integers(0, 4, size=count) + (np.arange(count) < 2), float(np.median(scores))


def ece(scores, labels, weights):
    """Expected calibration error over BINS equal bins; the last bin includes its upper end."""
    index = np.minimum((scores * BINS).astype(int), BINS - 1)
    total = 0.0
    for bin_index in range(BINS):
        here = index == bin_index
        total += abs(np.sum(weights[here] * (labels[here] - scores[here])))
    return total / np.sum(weights)


def best_f1(scores, labels):
    return max(metrics.f1_score(labels, scores >= threshold) for threshold in np.unique(scores))


def figures(scores, labels, weights, threshold, choose=True):
    """Metrics by key. `choose` adds those at the best thresholds, which takes quadratic time in the number of
    samples."""
    called = scores >= threshold
    (tn, fp), (fn, tp) = metrics.confusion_matrix(labels, called, labels=[0, 1])
    fpr, tpr, _ = metrics.roc_curve(labels, scores, drop_intermediate=False)
    values = {
        "auroc": metrics.roc_auc_score(labels, scores),
        "weighted_auroc": metrics.roc_auc_score(labels, scores, sample_weight=weights),
        "auprc": metrics.average_precision_score(labels, scores),
        "weighted_auprc": metrics.average_precision_score(labels, scores, sample_weight=weights),
        "brier": metrics.brier_score_loss(labels, scores),
        "weighted_brier": metrics.brier_score_loss(labels, scores, sample_weight=weights),
        "ece": ece(scores, labels, np.ones(len(scores))),
        "weighted_ece": ece(scores, labels, weights),
        "f1": metrics.f1_score(labels, called),
        "weighted_f1": metrics.f1_score(labels, called, sample_weight=weights),
        "sensitivity": metrics.recall_score(labels, called),
        "specificity": tn / (tn + fp),
        "ppv": metrics.precision_score(labels, called),
        "npv": tn / (tn + fn) if tn + fn > 0 else np.nan,
    }
    if choose:
        values["best_f1"] = best_f1(scores, labels)
        values["best_youden"] = np.max((tpr - fpr)[1:])
    for level in (90, 95):
        values[f"sensitivity_at_specificity_{level}"] = np.max(tpr[1 - fpr >= level / 100 - 1e-12])
        values[f"specificity_at_sensitivity_{level}"] = np.max(1 - fpr[tpr >= level / 100 - 1e-12])
    return values


def write_case(out, name, scores, labels, weights, threshold):
    out.write(f"case,{name},{len(scores)},{threshold:.9g}\n")
    for key, value in figures(scores.astype(np.float64), labels, weights, threshold).items():
        out.write(f"value,{key},{value:.17g}\n")
    if name == "no_ties":  # one temperature is fitted for all, on the case whose likelihood has an inner minimum
        z = logit(scores.astype(np.float64))
        loss = lambda log_t: metrics.log_loss(labels, 1 / (1 + np.exp(-z / np.exp(log_t))))
        fitted = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
        out.write(f"value,temperature,{np.exp(fitted.x):.17g}\n")
    for score, label, weight in zip(scores, labels, weights):
        out.write(f"{score:.9g},{label},{weight}\n")


def write_softmax(out, rng, count=60, classes=8):
    logits = 2.0 * rng.normal(size=(count, classes))
    truth = rng.integers(0, classes, size=count)
    logits[np.arange(count), truth] += 1.0
    p = softmax(logits, axis=1).astype(np.float32)
    z = np.log(p.astype(np.float64))
    loss = lambda log_t: metrics.log_loss(truth, softmax(z / np.exp(log_t), axis=1), labels=np.arange(classes))
    fitted = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    out.write(f"softmax,{count},{classes}\n")
    for k in (1, 5):
        out.write(f"value,top_{k},{metrics.top_k_accuracy_score(truth, p, k=k, labels=np.arange(classes)):.17g}\n")
    out.write(f"value,temperature,{np.exp(fitted.x):.17g}\n")
    for row, right in zip(p, truth):
        out.write(f"{right}," + ",".join(f"{value:.9g}" for value in row) + "\n")


def read_pairs(preds_path, labels_path):
    """Yields (label, float64 scores, truth) from a prediction file of roentgen and a csv in NIH's format."""
    with open(labels_path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        name, findings = header.index("Image Index"), header.index("Finding Labels")
        truth = {row[name]: {f.strip().replace(" ", "_") for f in row[findings].split("|")} for row in rows}
    with open(preds_path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    for column, title in enumerate(header):
        if not title.startswith("prob_"):
            continue
        label = title[len("prob_"):]
        scores = np.array([np.float32(row[column]) for row in rows]).astype(np.float64)
        yield label, scores, np.array([int(label in truth[row[header.index("Image Index")]]) for row in rows])


def check(preds_path, labels_path, eval_path):
    """Largest difference between the metrics in eval_path and those of scikit-learn."""
    with open(eval_path, encoding="utf-8") as file:
        ours = json.load(file)
    thresholds = ours.get("points", {}).get("thresholds", {})
    largest, compared = 0.0, 0
    for label, scores, labels in read_pairs(preds_path, labels_path):
        if labels.min() == labels.max():
            assert ours["auroc"]["labels"][label]["auroc"] is None, label
            continue
        threshold = thresholds.get(label)
        at = 0.5 if threshold is None else threshold
        values = figures(scores, labels, np.ones(len(scores)), at, choose=False)
        for key, value in values.items():
            if key == "auroc":
                mine = ours["auroc"]["labels"][label]["auroc"]
            elif key in ours["metrics"]:
                mine = ours["metrics"][key]["labels"][label]["value"]
            else:
                continue
            if mine is None:
                # scikit-learn calls an absent PPV 0; at no threshold there is nothing to compare.
                assert threshold is None or np.isnan(value) or (key == "ppv" and value == 0.0), (label, key, value)
                continue
            largest, compared = max(largest, abs(mine - value)), compared + 1
    print(f"{compared} figures, largest difference to scikit-learn {sklearn.__version__}: {largest:.3g}")
    return 0 if compared > 0 and largest <= 1e-12 else 1


def main():
    if len(sys.argv) < 2 or (sys.argv[1] == "--check" and len(sys.argv) != 5):
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        sys.exit(check(*sys.argv[2:5]))
    rng = np.random.default_rng(20261121)
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write(f"# made by tools/peers/metrics_sklearn.py with scikit-learn {sklearn.__version__}\n")
        for case in cases(rng):
            write_case(out, *case)
        write_softmax(out, rng)


if __name__ == "__main__":
    main()
