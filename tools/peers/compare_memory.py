#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Memory of our training step beside PyTorch's, and what recomputation costs.

  python3 tools/peers/compare_memory.py --model resnet50 --batch 16 --image 224 --threads 2 --rounds 3

Measured alike: how far the resident memory of a process that runs steps alone grows, less gradients and momentum. Ours
also holds weights and two batches by then, which PyTorch's process has before; they are taken off as well. Steps of the
recomputations run in turns, since the speed of a machine drifts; `cost` is the median over the rounds of step / step
with --recompute none, less 1.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from compare_step import HERE, PROGRAM, run

RECOMPUTE = ("none", "auto", "all")


def activation_bytes(result):
    """Growth of resident memory without what is no activation."""
    memory = result["memory"]
    return memory["measured_bytes"] - sum(memory[f"{kind}_bytes"]
                                          for kind in ("parameters", "gradients", "optimizer", "inputs"))


def table(results, rounds, peer):
    """Rows of the comparison: ours by recomputation, with PyTorch's in its leaner layout as the measure."""
    rows = []
    for name in RECOMPUTE:
        row = {"recompute": name, "planned_bytes": results[name]["memory"]["activations_bytes"],
               "activation_bytes": activation_bytes(results[name]),
               "cost": statistics.median(each[name] / each["none"] for each in rounds) - 1.0}
        if peer:
            row["of_peer"] = row["activation_bytes"] / peer["activation_bytes"]
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--algorithms", default="direct", help="ours")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has PyTorch; empty: no peer")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    settings = [word for name in ("model", "batch", "image", "threads", "warmup", "steps")
                for word in (f"--{name}", str(getattr(arguments, name)))]
    results, rounds, peer = {}, [], None
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"
        if arguments.python:
            peer = run([arguments.python, HERE / "bench_step_torch.py", *settings, "--json", file], file)
        for index in range(arguments.rounds):
            seconds = {}
            for name in RECOMPUTE[::-1] if index % 2 else RECOMPUTE:
                results[name] = run([arguments.program, "bench", "step", *settings, "--algorithms",
                                     arguments.algorithms, "--recompute", name, "--json", file], file)
                seconds[name] = results[name]["step_ms"]["median"]
            rounds.append(seconds)
    if len({result["checksum"] for result in results.values()}) != 1:
        sys.exit("recomputation changed the losses")
    rows = table(results, rounds, peer)
    print(f"{arguments.model}, batch {arguments.batch}, {arguments.image} px, {arguments.threads} threads"
          + (f"; {peer['peer']}: {peer['activation_bytes'] / 2**20:.0f} MiB" if peer else ""))
    for row in rows:
        print(f"  recompute {row['recompute']:<4}  planned {row['planned_bytes'] / 2**20:6.0f} MiB, "
              f"measured {row['activation_bytes'] / 2**20:6.0f} MiB"
              + (f", {row['of_peer']:.2f} of the peer's" if peer else "") + f", step {100 * row['cost']:+.1f}%")
    if arguments.json:
        arguments.json.write_text(json.dumps({"peer": peer, "rounds": rounds, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
