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
# Largest difference of a loss between one rank that rounds its gradients to 16 bits and one that does not. Rounding
# changes a gradient by at most 2^-9 (bf16) or 2^-12 (f16) of its value. On the emulated device, losses differ by 1e-5
# and 1e-6.
MOST_LOSS_16_BITS = {"bf16": 1e-3, "f16": 1e-4}


def rates(folder, way):
    """Images/s of each round with this way of averaging, in order."""
    paths = sorted(folder.glob(f"ranks_step_{way}_*.json"))
    return [json.loads(path.read_text())["points"][0]["images_per_s"] for path in paths]


def cost_of_nccl(without, with_nccl):
    """Median over rounds of the share by which a step with NCCL is longer than the step before it without NCCL."""
    if not without or len(without) != len(with_nccl):
        sys.exit(f"{len(without)} measurements without NCCL and {len(with_nccl)} with NCCL cannot be compared")
    return statistics.median(a / b for a, b in zip(without, with_nccl)) - 1


def losses(folder, run):
    """Losses of the updates in the log.jsonl of a run."""
    log = (folder / f"ranks_{run}/log.jsonl").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "step"]


def largest_difference(left, right):
    if not left or len(left) != len(right):
        sys.exit(f"runs of {len(left)} and {len(right)} updates cannot be compared")
    return max(abs(a - b) for a, b in zip(left, right))


def main(folder):
    without = rates(folder, "auto")
    costs = {"f32": cost_of_nccl(without, rates(folder, "nccl")), "bf16": cost_of_nccl(without, rates(folder, "bf16"))}
    cpu = losses(folder, "cpu")
    apart = largest_difference(cpu, losses(folder, "cuda"))
    exact = losses(folder, "f32")
    rounded = {wire: largest_difference(exact, losses(folder, wire)) for wire in MOST_LOSS_16_BITS}
    print("| check | result | bound |\n|---|---|---|")
    for wire, cost in costs.items():
        print(f"| cost of NCCL, one rank, sent as {wire} | {cost:+.2%} | {MOST_COST:.0%} |")
    print(f"| losses of {len(cpu)} updates, two ranks on one GPU and on the CPU | {apart:.1e} apart | {MOST_LOSS:.0e} |")
    for wire, difference in rounded.items():
        print(f"| losses of {len(exact)} updates, one rank, {wire} and f32 | {difference:.1e} apart, not 0 | "
              f"{MOST_LOSS_16_BITS[wire]:.0e} |")
    # A difference of 0 means that nothing was rounded.
    are_rounded = all(0 < rounded[wire] <= bound for wire, bound in MOST_LOSS_16_BITS.items())
    return 0 if max(costs.values()) <= MOST_COST and apart <= MOST_LOSS and are_rounded else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
