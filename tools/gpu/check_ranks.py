#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Judges the results of tools/gpu/check_ranks.sh: prints a table, and exits with 1 if a bound is exceeded.

  python3 tools/gpu/check_ranks.py OUT
"""
import json
import pathlib
import statistics
import sys

# Largest cost of a step with NCCL and one rank, relative to the step without.
MOST_COST = 0.02
# Largest difference of a loss between GPU and CPU. Both compute in f32 and differ by the order of sums, about 1e-5 in
# the first update; updates amplify it.
MOST_LOSS = 1e-3


def rates(folder, reduce):
    """Images/s of each round with `--reduce`, in order."""
    paths = sorted(folder.glob(f"ranks_step_{reduce}_*.json"))
    return [json.loads(path.read_text())["points"][0]["images_per_s"] for path in paths]


def cost_of_nccl(without, with_nccl):
    """Median over rounds of the share by which a step with NCCL is longer than the step before it without NCCL."""
    if not without or len(without) != len(with_nccl):
        sys.exit(f"{len(without)} measurements without NCCL and {len(with_nccl)} with NCCL cannot be compared")
    return statistics.median(a / b for a, b in zip(without, with_nccl)) - 1


def losses(log):
    """Losses of the updates in the text of a log.jsonl."""
    lines = [json.loads(line) for line in log.splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "step"]


def largest_difference(left, right):
    if not left or len(left) != len(right):
        sys.exit(f"runs of {len(left)} and {len(right)} updates cannot be compared")
    return max(abs(a - b) for a, b in zip(left, right))


def main(folder):
    cost = cost_of_nccl(rates(folder, "auto"), rates(folder, "nccl"))
    cpu, cuda = (losses((folder / f"ranks_{device}/log.jsonl").read_text()) for device in ("cpu", "cuda"))
    apart = largest_difference(cpu, cuda)
    print("| check | result | bound |\n|---|---|---|")
    print(f"| cost of NCCL, one rank | {cost:+.2%} | {MOST_COST:.0%} |")
    print(f"| losses of {len(cpu)} updates, two ranks on one GPU and on the CPU | {apart:.1e} apart | {MOST_LOSS:.0e} |")
    return 1 if cost > MOST_COST or apart > MOST_LOSS else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
