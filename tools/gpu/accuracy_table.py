#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Prints the table of tools/gpu/accuracy.sh: AUROCs of GPU and CPU, and the bound of their difference.

  python3 tools/gpu/accuracy_table.py aurocs.csv

Columns of the file: device, dtype, seed, auroc. The bound of a difference of means is 2 sqrt(s1^2/n1 + s2^2/n2), two
standard errors, or 0.002 if that is larger. The status is 1 if a difference exceeds its bound or cannot be judged.
"""
import csv
import math
import statistics
import sys

LEAST_BOUND = 0.002


def read(path):
    """{(device, dtype): [AUROC of each seed]}, in the file's order."""
    groups = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault((row["device"], row["dtype"]), []).append(float(row["auroc"]))
    return groups


def bound(left, right):
    """Largest difference of the means that counts as equal. Needs at least two seeds on each side."""
    return max(2 * math.sqrt(statistics.variance(left) / len(left) + statistics.variance(right) / len(right)),
               LEAST_BOUND)


def main():
    groups = read(sys.argv[1])
    cpu = next((values for (device, _), values in groups.items() if device == "cpu"), [])
    are_equal = True
    print("| device | type | seeds | mean AUROC | standard deviation | difference | bound | verdict |\n"
          "|---|---|---|---|---|---|---|---|")
    for (device, dtype), values in groups.items():
        spread = f"{statistics.stdev(values):.4f}" if len(values) > 1 else "-"
        row = f"| {device} | {dtype} | {len(values)} | {statistics.mean(values):.4f} | {spread} |"
        if device == "cpu":
            print(row + " - | - | - |")
        elif min(len(values), len(cpu)) < 2:
            print(row + " - | - | too few seeds |")
            are_equal = False
        else:
            difference, most = statistics.mean(values) - statistics.mean(cpu), bound(values, cpu)
            is_within = abs(difference) <= most
            are_equal = are_equal and is_within
            print(row + f" {difference:+.4f} | {most:.4f} | {'within' if is_within else 'EXCEEDED'} |")
    return 0 if are_equal else 1


if __name__ == "__main__":
    sys.exit(main())
