#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Prints the table of tools/gpu/check.sh: images/s of roentgen and of each mode of PyTorch in the same run.

  python3 tools/gpu/check_table.py OUT
"""
import json
import pathlib
import sys

# Target ratios by (what, model, batch): to the best mode of PyTorch, and to its mode bf16 eager.
TARGETS = {("train", "resnet50", 256): (1.20, 1.75), ("train", "resnet50", 64): (1.20, 1.80),
           ("train", "densenet121", 256): (1.50, 2.50), ("train", "densenet121", 64): (1.50, 2.70),
           ("train", "vgg16", 128): (None, 1.15), ("train", "vgg19", 128): (None, 1.15),
           ("train", "googlenet", 256): (None, 1.15), ("train", "inception_v3", 128): (None, 1.15),
           ("train", "inception_v4", 128): (None, 1.15), ("infer", "resnet50", 1): (1.05, None),
           ("infer", "resnet50", 256): (1.30, None)}


def ours(folder):
    """Fastest result of roentgen over all types, as {(what, model, batch): (images/s, text)}."""
    best = {}
    for path in sorted(folder.glob("*.json")):
        what = {"step": "train", "infer": "infer"}.get(path.stem.split("_")[0])
        if what is None:
            continue
        result = json.loads(path.read_text())
        rows = [result] if what == "train" else result["batches"]
        for row in rows:
            key = (what, result["model"], row["batch"])
            if key not in best or row["images_per_s"] > best[key][0]:
                best[key] = (row["images_per_s"], result["dtype"])
    return best


def peers(folder):
    """Results of PyTorch, as {(what, model, batch): [(images/s, mode)]}."""
    found = {}
    for line in (folder / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "error" in row:
            print(f"PyTorch failed: {row['cell']}: {row['error']}", file=sys.stderr)
            continue
        found.setdefault((row["what"], row["model"], row["batch"]), []).append(
            (row["images_per_s"], f"{row['dtype']} {row['mode']}"))
    return found


def number(value):
    return "-" if value is None else f"{value:,.0f}"


def ratio(own, other, target):
    """A ratio and its target, such as '1.23 (1.20)'."""
    if other is None:
        return "-"
    return f"{own / other:.2f}" + (f" ({target:.2f})" if target else "")


def main():
    folder = pathlib.Path(sys.argv[1])
    card = (folder / "card.txt").read_text().strip()
    others = peers(folder)
    print(f"Card: {card}. Images/s; ratios with their targets in brackets.\n")
    print("| cell | ours | PyTorch, best | mode | ratio | PyTorch, bf16 eager | ratio |\n|---|---|---|---|---|---|---|")
    for key, (speed, dtype) in sorted(ours(folder).items()):
        rows = others.get(key, [])
        best, best_mode = max(rows, default=(None, "-"))
        eager = next((value for value, mode in rows if mode == "bf16 eager"), None)
        to_best, to_eager = TARGETS.get(key, (None, None))
        print(f"| {key[0]} {key[1]} b{key[2]} {dtype} | {number(speed)} | {number(best)} | {best_mode} | "
              f"{ratio(speed, best, to_best)} | {number(eager)} | {ratio(speed, eager, to_eager)} |")


if __name__ == "__main__":
    main()
