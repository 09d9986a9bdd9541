#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Trains the same small network with every algorithm that averages gradients, and compares the losses.

  tools/studies/reduce_losses.py --ranks 4 --seeds 0,1,2 --steps 60 --markdown losses.md       # 3 minutes on two cores

Draws images (`roentgen synth`) and trains on them with `--reduce allreduce`, `exchange`, `ring`, `tree` and `hierarchical`, each with
every seed. Prints a table: the mean loss of the last ten updates by seed, and how far a run's losses are from those of
`allreduce` with the same seed, at the most over all updates, beside how far two seeds are from each other.
"""
import json
import pathlib
import statistics
import sys
import tempfile

from study import markdown_table, parser_of, run, write

WAYS = ("allreduce", "exchange", "ring", "tree", "hierarchical")
STOPPED = 3  # exit status of --stop-after
LAST = 10  # number of updates over which a run's last loss is averaged
RECIPE = """[preprocess]
size = 32
[train]
epochs = 1000
workers = 1
threads = 1
[optimizer]
name = "sgd"
lr = 0.1
"""
NET = """graph "small"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
conv2 = conv2d(relu1, out=32, kernel=3x3, stride=2x2, pad=1x1, bias=no)
norm2 = batch_norm(conv2)
relu2 = relu(norm2)
conv3 = conv2d(relu2, out=32, kernel=3x3, pad=1x1, bias=no)
norm3 = batch_norm(conv3)
relu3 = relu(norm3)
pool = global_avg_pool(relu3)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
"""


def losses_of(log):
    """Losses of the updates in the text of a log.jsonl."""
    lines = [json.loads(line) for line in log.splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "step"]


def largest_difference(left, right):
    if len(left) != len(right):
        sys.exit(f"runs of {len(left)} and {len(right)} updates cannot be compared")
    return max(abs(a - b) for a, b in zip(left, right))


def table(losses):
    """Table of the losses. `losses`: by averaging algorithm, then by seed."""
    seeds = list(next(iter(losses.values())))
    base = next(iter(losses))
    rows = []
    for way, by_seed in losses.items():
        last = [f"{statistics.mean(by_seed[seed][-LAST:]):.6f}" for seed in seeds]
        most = max(largest_difference(by_seed[seed], losses[base][seed]) for seed in seeds)
        rows.append([f"`{way}`", *last, "" if way == base else f"{most:.1e}"])
    text = markdown_table(["way", *(f"seed {seed}" for seed in seeds), f"largest difference from `{base}`"], rows)
    first = statistics.mean(losses[base][seed][0] for seed in seeds)
    text += f"\nMean loss of the last {LAST} of {len(losses[base][seeds[0]])} updates (the first update's: {first:.4f})"
    if len(seeds) > 1:
        apart = min(largest_difference(losses[base][a], losses[base][b]) for a in seeds for b in seeds if a < b)
        text += f"; two seeds are at least {apart:.1e} apart"
    return text + ".\n"


def measure(options):
    with tempfile.TemporaryDirectory(dir=options.work) as name:
        work = pathlib.Path(name)
        (work / "recipe.toml").write_text(RECIPE)
        (work / "net.txt").write_text(NET)
        run([options.program, "synth", work / "data", "--images", options.images, "--size", 32, "--seed", 1])
        losses = {way: {} for way in WAYS}
        for seed in options.seeds.split(","):
            for way in WAYS:
                out = work / f"{way}-{seed}"
                run([options.program, "train", "--recipe", work / "recipe.toml", "--model", work / "net.txt", "--data",
                     work / "data", "--out", out, "--ranks", options.ranks, "--oversubscribe", "--reduce", way,
                     "--stop-after", options.steps, "--set", f"train.seed={seed}", "--set",
                     f"train.batch={options.batch}"], ends=(0, STOPPED))
                losses[way][seed] = losses_of((out / "log.jsonl").read_text())
        return losses


def main():
    parser = parser_of(__doc__, ranks=4, seeds="0,1,2", steps=60, images=600)
    parser.add_argument("--batch", type=int, default=8, help="of a rank")
    parser.add_argument("--work", type=pathlib.Path, help="where the temporary folder is made")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    losses = measure(options)
    write(options, losses, table(losses))


if __name__ == "__main__":
    main()
