#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Does a recipe that does well on synthetic radiographs do well on real ones? Trains variants of one recipe on synthetic
findings and on three real tasks, ranks them on each, and prints the rank correlations.

  tools/studies/transfer.py --synth DIR --kermany DIR --nih DIR --out DIR [--seeds 0,1] [--markdown TABLES.md]

A variant is a list of --set options added to each task's own recipe; everything else is the same for all variants. Results in
--out with the same program, settings and tables are reused, so that an interrupted study continues. Several of these processes can
train different seeds at once, each with `--threads 1`. Needs only Python.
"""
import hashlib
import json
import pathlib
import statistics
import sys

from study import TOOLS, markdown_table, parser_of, run, write

sys.path.insert(0, str(TOOLS))
from ranks import ranks, spearman  # noqa: E402

# Task: (recipe, options for all variants, split to score, labels that count or None for the mean over all).
TASKS = {
    "synthetic, 14 findings": ("recipes/quickstart.toml", ["train.epochs=6", "preprocess.size=64"], "test", None),
    "Kermany pneumonia": ("recipes/kermany.toml", ["train.epochs=3"], "val", None),
    "NIH view": ("recipes/nih_view_sex.toml", ["train.epochs=20", "preprocess.size=64"], "val", "View:AP"),
    "NIH sex": ("recipes/nih_view_sex.toml", ["train.epochs=20", "preprocess.size=64"], "val", "Sex:M"),
}
DATA = {"recipes/quickstart.toml": "synth", "recipes/kermany.toml": "kermany", "recipes/nih_view_sex.toml": "nih"}

VARIANTS = {
    "as it is": [],
    "no augmentation": ["augment.rotate=0", "augment.translate=0", "augment.scale=0", "augment.flip=0"],
    "strong augmentation": ["augment.rotate=25", "augment.translate=0.15", "augment.scale=0.25"],
    "SGD, lr 0.03": ['optimizer.name="sgd"', "optimizer.lr=0.03"],
    "lr 3e-5": ["optimizer.lr=3e-5"],
    "lr 2e-2": ["optimizer.lr=2e-2"],
    "width 8": ["model.width=8"],
    "32 px": ["preprocess.size=32"],
}


def tables_hash(data):
    """SHA-256 of a data folder's tables and, for synthetic sets, of its settings."""
    digest = hashlib.sha256()
    for path in sorted([*data.glob("*.csv"), *data.glob("*.txt"), *data.glob("synth.json")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def score(options, task, variant, seed):
    """AUROC of one variant on one task with one seed; trains it unless the result exists."""
    recipe, common, split, label = TASKS[task]
    data = getattr(options, DATA[recipe])
    place = options.out / pathlib.Path(recipe).stem / variant.replace(" ", "_").replace(",", "") / f"seed-{seed}"
    result, stamp = place / "eval.json", place / "stamp.txt"
    settings = common + VARIANTS[variant] + [f"train.seed={seed}", f"train.threads={options.threads}"]
    made_of = "\n".join([pathlib.Path(recipe).read_text(encoding="utf-8"), *settings, tables_hash(data),
                         hashlib.sha256(options.program.read_bytes()).hexdigest()])
    if not result.exists() or not stamp.exists() or stamp.read_text(encoding="utf-8") != made_of:
        words = [word for setting in settings for word in ("--set", setting)]
        run([options.program, "train", "--recipe", recipe, "--data", data, "--out", place, "--overwrite", *words])
        checkpoint = place / "checkpoints/best.safetensors"
        run([options.program, "eval", "--checkpoint", checkpoint, "--data", data, "--split", split, "--json", result,
             "--threads", options.threads])
        stamp.write_text(made_of, encoding="utf-8")
    auroc = json.loads(result.read_text(encoding="utf-8"))["auroc"]
    return auroc["mean"] if label is None else auroc["labels"][label]["auroc"]


def main():
    parser = parser_of(__doc__, seeds="0,1")
    for name in ("synth", "kermany", "nih", "out"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=0, help="of each training; 0: all cores")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    scores = {}
    for seed in seeds:
        for variant in VARIANTS:
            for task in TASKS:
                value = score(options, task, variant, seed)
                scores.setdefault((task, variant), []).append(value)
                print(f"seed {seed}  {variant:20s}  {task:24s}  {value:.4f}", flush=True)
    means = {key: statistics.mean(values) for key, values in scores.items()}
    rows = []
    order = {task: ranks([means[task, variant] for variant in VARIANTS]) for task in TASKS}
    for i, variant in enumerate(VARIANTS):
        cells = []
        for task in TASKS:
            spread = max(scores[task, variant]) - min(scores[task, variant])
            half_range = f" (±{spread / 2:.4f})" if len(seeds) > 1 else ""
            cells.append(f"{means[task, variant]:.4f}{half_range}, {order[task][i]:g}.")
        rows.append([variant, *cells])
    correlations = []
    for task in TASKS:
        values = [means[task, variant] for variant in VARIANTS]
        correlations.append([task, *(f"{spearman(values, [means[other, v] for v in VARIANTS]):.2f}" for other in TASKS)])
    half_range = " (half their range)" if len(seeds) > 1 else ""
    text = (f"AUROC, mean of seeds {options.seeds}{half_range}, rank among the {len(VARIANTS)} variants.\n\n"
            f"{markdown_table(['variant', *TASKS], rows)}\n"
            + markdown_table(["Spearman's rank correlation", *TASKS], correlations))
    record = [{"task": task, "variant": variant, "auroc": values} for (task, variant), values in scores.items()]
    write(options, record, text)


if __name__ == "__main__":
    main()
