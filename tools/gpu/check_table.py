#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Prints the tables of tools/gpu/check.sh: images/s of roentgen and of each mode of PyTorch in the same run, and the
memory, first step and repeatability of each run of roentgen. Names files that are damaged or missing, prints the rest, and
then exits with 1.

  python3 tools/gpu/check_table.py OUT
"""
import json
import pathlib
import sys

# Reasons why files could not be used, by file name: they could not be read, or lack a value.
damaged = {}
# Target ratios by (what, model, batch): to the best mode of PyTorch, and to its mode bf16 eager.
TARGETS = {("train", "resnet50", 256): (1.20, 1.75), ("train", "resnet50", 64): (1.20, 1.80),
           ("train", "densenet121", 256): (1.50, 2.50), ("train", "densenet121", 64): (1.50, 2.70),
           ("train", "vgg16", 128): (None, 1.15), ("train", "vgg19", 128): (None, 1.15),
           ("train", "googlenet", 256): (None, 1.15), ("train", "inception_v3", 128): (None, 1.15),
           ("train", "inception_v4", 128): (None, 1.15), ("infer", "resnet50", 1): (1.05, None),
           ("infer", "resnet50", 256): (1.30, None)}
# Largest ratio of our memory to that of PyTorch in bf16 eager, by (model, recompute).
MEMORY_TARGETS = {("resnet50", "none"): 1.0, ("resnet50", "all"): 0.75, ("densenet121", "none"): 0.7}
# Values of a training run that the tables need.
STEP_FIELDS = ("model", "batch", "dtype", "images_per_s", "algorithms", "recompute", "peak_bytes", "floor_ratio",
               "first_step_s", "plan_hash", "checksum")
# Type of PyTorch's eager mode that computes as our type.
PEER_TYPES = {"bf16": "bf16", "f16": "fp16", "tf32": "f32"}
# Images/s of each of 8 H200 in MXNet's result for ResNet-50, with batches of 400 images, decoding and communication.
MLPERF = 7942


def read(path):
    """Text of a file; empty if it is missing."""
    try:
        return path.read_text()
    except OSError as error:
        damaged[path.name] = error.strerror
        return ""


def results(folder, prefix, fields):
    """Contents of the JSON files whose name begins with `prefix`, without it, by file name. Omits those without fields."""
    found = {}
    for path in sorted(folder.glob(f"{prefix}*.json")):
        try:
            result = json.loads(read(path))
            missing = [field for field in fields if field not in result]
        except (ValueError, TypeError) as error:
            damaged[path.name] = str(error)
        else:
            if missing:
                damaged[path.name] = f"no {', '.join(missing)}"
            else:
                found[path.stem.removeprefix(prefix)] = result
    return found


def ours(folder):
    """Fastest result of roentgen over all types, as {(what, model, batch): (images/s, text)}."""
    found = [("train", row["model"], row["batch"], row) for row in results(folder, "step_", STEP_FIELDS).values()]
    for result in results(folder, "infer_", ("model", "dtype", "batches")).values():
        found += [("infer", result["model"], row["batch"], {**row, "dtype": result["dtype"]}) for row in result["batches"]]
    best = {}
    for *key, row in found:
        best[tuple(key)] = max(best.get(tuple(key), (0, "")), (row["images_per_s"], row["dtype"]))
    return best


def peers(folder):
    """Results of PyTorch, as {(what, model, batch): [(images/s, mode, GiB)]}."""
    found = {}
    for line in read(folder / "rows.jsonl").splitlines():
        try:
            row = json.loads(line)
            if "error" in row:
                print(f"PyTorch failed: {row['cell']}: {row['error']}", file=sys.stderr)
                continue
            found.setdefault((row["what"], row["model"], row["batch"]), []).append(
                (row["images_per_s"], f"{row['dtype']} {row['mode']}", row.get("peak_gib")))
        except (ValueError, LookupError) as error:  # a line of a process that was killed
            damaged["rows.jsonl"] = str(error)
    return found


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def ratio(own, other, target):
    """A ratio and its target, such as '1.23 (1.20)'."""
    if other is None:
        return "-"
    return f"{own / other:.2f}" + (f" ({target:.2f})" if target else "")


def eager(rows, dtype):
    """(images/s, mode, GiB) of PyTorch's eager mode in a type of PyTorch; None in each place if it was not measured."""
    return next((row for row in rows if row[1] == f"{dtype} eager"), (None, None, None))


def print_speeds(folder, others):
    print("| cell | ours | PyTorch, best | mode | ratio | PyTorch, bf16 eager | ratio |\n|---|---|---|---|---|---|---|")
    for key, (speed, dtype) in sorted(ours(folder).items()):
        rows = others.get(key, [])
        best, best_mode, _ = max(rows, key=lambda row: row[0], default=(None, "-", None))
        to_best, to_eager = TARGETS.get(key, (None, None))
        in_bf16 = eager(rows, "bf16")[0]
        print(f"| {key[0]} {key[1]} b{key[2]} {dtype} | {number(speed)} | {number(best)} | {best_mode} | "
              f"{ratio(speed, best, to_best)} | {number(in_bf16)} | {ratio(speed, in_bf16, to_eager)} |")
        if key == ("train", "resnet50", 400):
            print(f"| the same, MLPerf v4.0 | {number(speed)} | {MLPERF:,} | MXNet, per H200 | {ratio(speed, MLPERF, None)} | - | - |")


def repeats(first, second):
    """Says whether two runs of one plan gave the same losses."""
    if first is None or first["plan_hash"] != second["plan_hash"]:
        return "-"
    return "yes" if first["checksum"] == second["checksum"] else "NO"


def print_steps(folder, others):
    """Each training run of roentgen. A run that was repeated had timed its plans before its second first step."""
    print("| training | type | recompute | algorithms | ours | PyTorch, eager, this type | ratio | GiB | of bf16 eager | "
          "of convolutions alone | first step, s | same bits twice |\n" + "|---" * 12 + "|")
    firsts = results(folder, "first_step_", STEP_FIELDS)
    for name, row in results(folder, "step_", STEP_FIELDS).items():
        rows, first = others.get(("train", row["model"], row["batch"]), []), firsts.get(name)
        speed, gib = row["images_per_s"], row["peak_bytes"] / 2**30
        peer = eager(rows, PEER_TYPES.get(row["dtype"]))[0]
        recompute = "all" if row["recompute"] == "all" else "none"
        memory_target = MEMORY_TARGETS.get((row["model"], recompute)) if row["dtype"] == "bf16" else None
        starts = [one["first_step_s"] for one in (first, row) if one is not None]
        print(f"| {row['model']} b{row['batch']} | {row['dtype']} | {recompute} | {row['algorithms']} | {number(speed)} | "
              f"{number(peer)} | {ratio(speed, peer, None)} | {gib:.1f} | "
              f"{ratio(gib, eager(rows, 'bf16')[2], memory_target)} | {number(row['floor_ratio'], 2)} | "
              f"{', then '.join(f'{start:.1f}' for start in starts)} | {repeats(first, row)} |")


def main():
    folder = pathlib.Path(sys.argv[1])
    card = read(folder / "card.txt").strip() or "unknown"
    others = peers(folder)
    print(f"Card: {card}. Images/s; ratios with their targets in brackets.\n")
    print_speeds(folder, others)
    print()
    print_steps(folder, others)
    if damaged:
        print()
    for name, reason in sorted(damaged.items()):
        print(f"{name}: MISSING or damaged: {reason}")
    return 1 if damaged else 0


if __name__ == "__main__":
    sys.exit(main())
