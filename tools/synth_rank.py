#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Does a network find the synthetic findings as hard as networks find NIH's? Spearman's rank correlation of the AUROCs that
`roentgen eval --json` wrote with those of a CheXNet on NIH ChestX-ray14 (github.com/arnoweng/CheXNet).

  tools/synth_rank.py eval.json [--least 0.6]

Exits with 1 below --least.
"""
import argparse
import json
import sys

from ranks import ranks, spearman

NIH = {"Atelectasis": 0.8294, "Cardiomegaly": 0.9165, "Effusion": 0.8870, "Infiltration": 0.7143, "Mass": 0.8597,
       "Nodule": 0.7873, "Pneumonia": 0.7745, "Pneumothorax": 0.8726, "Consolidation": 0.8142, "Edema": 0.8932,
       "Emphysema": 0.9254, "Fibrosis": 0.8304, "Pleural_Thickening": 0.7831, "Hernia": 0.9104}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluation")
    parser.add_argument("--least", type=float, default=-1.0)
    arguments = parser.parse_args()
    with open(arguments.evaluation, encoding="utf-8") as file:
        labels = json.load(file)["auroc"]["labels"]
    findings = [finding for finding in NIH if labels.get(finding, {}).get("auroc") is not None]
    ours, theirs = [labels[f]["auroc"] for f in findings], [NIH[f] for f in findings]
    rho = spearman(ours, theirs)
    for finding, a, b in sorted(zip(findings, ranks(ours), ranks(theirs)), key=lambda row: row[2]):
        print(f"{finding:20s} {labels[finding]['auroc']:.3f}  rank {a:4g}   NIH {NIH[finding]:.3f}  rank {b:4g}")
    print(f"Spearman {rho:.2f} over {len(findings)} findings")
    sys.exit(rho < arguments.least)


if __name__ == "__main__":
    main()
