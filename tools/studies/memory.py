#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares the memory of our training step with PyTorch's, and measures the cost of recomputation.

  tools/studies/memory.py --model resnet50 --batch 16 --image 224 --threads 2 --rounds 3 --python PYTORCH

Memory is the growth of the resident memory of a process that only runs steps, minus gradients and momentum. The growth of
our process also contains weights and two batches, which PyTorch's process has allocated before; they are subtracted, too.
Steps with different recomputation alternate, because the speed of a machine drifts. `cost` is the median over rounds of
the step time divided by that with --recompute none, minus 1. `of_peer` compares with PyTorch's layout that needs less.
"""
import json
import statistics
import sys

from study import TOOLS, bench, interleaved, markdown_table, parser_of, run, words_of, write

RECOMPUTE = ("none", "auto", "all")
NO_ACTIVATIONS = ("parameters", "gradients", "optimizer", "inputs")


def row_of(name, result, steps, peer):
    """One row of the table. `steps`: milliseconds in each round, by recomputation setting."""
    memory = result["memory"]
    measured_bytes = memory["measured_bytes"] - sum(memory[f"{kind}_bytes"] for kind in NO_ACTIVATIONS)
    return {"recompute": name, "planned_bytes": memory["activations_bytes"], "activation_bytes": measured_bytes,
            "of_peer": measured_bytes / peer["activation_bytes"] if peer else None,
            "cost": statistics.median(ms / none for ms, none in zip(steps[name], steps["none"])) - 1.0}


def markdown(rows):
    cells = [[row["recompute"], f"{row['planned_bytes'] / 2**20:.0f}", f"{row['activation_bytes'] / 2**20:.0f}",
              f"{row['of_peer']:.2f}" if row["of_peer"] else "-", f"{100 * row['cost']:+.1f}%"] for row in rows]
    return markdown_table(["recompute", "planned, MiB", "measured, MiB", "of the peer's", "step"], cells)


def main():
    parser = parser_of(__doc__, model="resnet50", batch=16, image=224, threads=2, warmup=1, steps=3, rounds=3)
    parser.add_argument("--algorithms", default="direct", help="ours")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has PyTorch; empty: no peer")
    options = parser.parse_args()
    settings = {name: getattr(options, name) for name in ("model", "batch", "image", "threads", "warmup", "steps")}
    peer = None
    if options.python:
        peer = json.loads(run([options.python, TOOLS / "peers" / "bench_step_torch.py", *words_of(settings)]))
    results, steps = {}, {name: [] for name in RECOMPUTE}
    for _, name in interleaved(RECOMPUTE, options.rounds):
        results[name] = bench(options.program, "step", algorithms=options.algorithms, recompute=name, **settings)
        steps[name].append(results[name]["step_ms"]["median"])
    if len({result["checksum"] for result in results.values()}) != 1:
        sys.exit("recomputation changed the losses")
    rows = [row_of(name, results[name], steps, peer) for name in RECOMPUTE]
    write(options, {"peer": peer, "step_ms": steps, "rows": rows}, markdown(rows))


if __name__ == "__main__":
    main()
