#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Prints the least time of a training step on a card, from the arithmetic and the bytes of its plan. Needs no card.

  roentgen inspect --plan --model vgg16 --batch 128 --channels 3 --device cuda --card h200 --set train.dtype=bf16 --json plan.json
  python3 tools/gpu/floor.py plan.json

The time of an entry is that of its arithmetic or of its bytes, whichever is longer. Bytes count each tensor of an entry
once. The defaults are the rates that an H200 keeps up in bf16 and f16. The optimizer (SGD with momentum) is added.
"""
import argparse
import collections
import json
import pathlib

SGD_BYTES = 20  # per parameter: reads weight, gradient and momentum, writes weight and momentum


def rows(plan, flops_per_s, bytes_per_s):
    """[(kind, entries, GFLOP, GB, ms)], the longest first."""
    kinds = collections.defaultdict(lambda: [0, 0, 0, 0.0])
    entries = [(entry["kind"], entry["flops"], entry["bytes"]) for entry in plan["entries"]]
    entries.append(("optimizer", 0, plan["parameters_bytes"] // 4 * SGD_BYTES))
    for kind, flops, size in entries:
        total = kinds[kind]
        total[0] += 1
        total[1] += flops
        total[2] += size
        total[3] += max(flops / flops_per_s, size / bytes_per_s)
    return sorted(((kind, count, flops / 1e9, size / 1e9, seconds * 1e3)
                   for kind, (count, flops, size, seconds) in kinds.items()), key=lambda row: -row[4])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=pathlib.Path, help="JSON of roentgen inspect --plan")
    parser.add_argument("--tflops", type=float, default=673.0, help="arithmetic per second (default 673)")
    parser.add_argument("--tb-per-s", type=float, default=4.22, help="bytes read and written per second (default 4.22)")
    options = parser.parse_args()
    plan = json.loads(options.plan.read_text(encoding="utf-8"))
    table = rows(plan, options.tflops * 1e12, options.tb_per_s * 1e12)
    print("| kind | entries | GFLOP | GB | ms |\n|---|---|---|---|---|")
    for kind, count, gflop, gigabytes, milliseconds in table:
        print(f"| {kind} | {count} | {gflop:,.1f} | {gigabytes:.2f} | {milliseconds:.3f} |")
    total = sum(row[4] for row in table)
    print(f"\n{plan['model']}, batch {plan['batch']}, {plan['dtype']}: at least {total:.2f} ms a step, at most "
          f"{plan['batch'] / total * 1e3:,.0f} images/s")


if __name__ == "__main__":
    main()
