#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Trains with three seeds on each data set and writes the validation AUROCs as records for `roentgen bench history`.

  build/release/roentgen synth synthetic --images 6000 --size 64 --seed 1
  tools/studies/accuracy_records.py --program build/release/roentgen --records records --runs /tmp/runs \\
      --task kermany=kermany:kermany --task sex=nih_view_sex:nih:Sex:M --task synthetic=quickstart:synthetic \\
      --set sex:train.epochs=25 --set synthetic:preprocess.size=64 --set synthetic:train.epochs=15

A task is NAME=RECIPE:DATA, or NAME=RECIPE:DATA:LABEL for the AUROC of one label; without a label it is the mean over
all. Run it once with each build, with the same seeds. `bench history` pairs the builds by seed.

The command above gave AUROCs of 0.998 to 0.999 (kermany), 0.910 to 0.934 (sex) and 0.816 to 0.825 (synthetic; ceiling
0.953). It took 10.7 minutes of CPU time on an AMD EPYC: 22 minutes on two cores that were shared with about ten other
programs.
"""
import argparse
import csv
import datetime
import hashlib
import json
import pathlib
import re
import socket
import statistics
import time

from study import parser_of, run

SCHEMA = "roentgen-bench-record/1"


def task_of(text):
    """(name, recipe, data, label) of NAME=RECIPE:DATA[:LABEL]; the label is None if it is left out."""
    name, equals, rest = text.partition("=")
    words = rest.split(":", 2)
    if not name or not equals or len(words) not in (2, 3) or not all(words):
        raise argparse.ArgumentTypeError(f"expected NAME=RECIPE:DATA[:LABEL], got {text}")
    return name, words[0], words[1], words[2] if len(words) == 3 else None


def set_of(text):
    """(task, change) of TASK:KEY=VALUE, or (None, change) of KEY=VALUE, which holds for all tasks."""
    key, equals, value = text.partition("=")
    task, colon, own = key.rpartition(":")
    if not own or not equals or not value or (colon and not task):
        raise argparse.ArgumentTypeError(f"expected [TASK:]KEY=VALUE, got {text}")
    return task or None, f"{own}={value}"


def auroc_of(rows, label):
    """AUROC of a label, or the mean over all labels with one. `rows` are those of aucs.csv."""
    aurocs = {row["label"]: float(row["auc"]) for row in rows if row["auc"] and row["label"] != "mean"}
    if label is None:
        return statistics.mean(aurocs.values())
    if label not in aurocs:
        raise SystemExit(f"expected an AUROC of {label}, got those of {', '.join(aurocs) or 'no label'}")
    return aurocs[label]


def host_hash():
    """Hash of this machine, as the program writes it to its records."""
    machine = pathlib.Path("/etc/machine-id")
    text = machine.read_text().split("\n")[0] if machine.exists() else ""
    return hashlib.sha256(f"{text} {socket.gethostname()}".encode()).hexdigest()[:12]


def record_of(commit, command, result):
    """A record with the current date."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"schema": SCHEMA, "date": date, "host": host_hash(), "commit": commit,
            "command": [str(word) for word in command], "case": "accuracy", "result": result}


def write_record(folder, record):
    """Writes a record under the name that the program would give it. Returns the path."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=2) + "\n"
    date = re.sub("[-:]", "", record["date"])
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    path = folder / f"{date}-accuracy-{record['commit'][:8]}-{digest}.json"
    path.write_text(text)
    return path


def main():
    parser = parser_of(__doc__, seeds="0,1,2")
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=pathlib.Path, required=True, help="folder for the run folders")
    parser.add_argument("--task", type=task_of, action="append", required=True)
    parser.add_argument("--set", type=set_of, action="append", default=[], metavar="[TASK:]KEY=VALUE",
                        help="key of the recipe, for one task or for all")
    options = parser.parse_args()
    names = [task[0] for task in options.task]
    for task, change in options.set:
        if task is not None and task not in names:
            parser.error(f"--set {task}:{change}: expected one of the tasks {', '.join(names)}")
    if options.program.exists():
        options.program = options.program.resolve()  # "./roentgen" has lost its dot, and would be searched in PATH
    commit = re.search(r"\((.*)\)", run([options.program, "--version"])).group(1)
    for name, recipe, data, label in options.task:
        runs = options.runs / commit[:8] / name
        command = [options.program, "train", "--recipe", recipe, "--data", data, "--seeds", options.seeds,
                   "--out", runs]
        changes = [change for task, change in options.set if task in (None, name)]
        for each in changes:
            command += ["--set", each]
        begin = time.monotonic()
        run(command)
        print(f"{name}: {time.monotonic() - begin:.0f} s")
        for seed in map(int, options.seeds.split(",")):
            with open(runs / f"seed-{seed}" / "aucs.csv", newline="", encoding="utf-8") as table:
                auroc = auroc_of(csv.DictReader(table), label)
            result = {"data": name, "recipe": recipe, "label": label or "mean", "seed": seed, "auroc": auroc}
            if changes:
                result["set"] = " ".join(changes)
            path = write_record(options.records, record_of(commit, command, result))
            print(f"{name}, seed {seed}: AUROC {auroc:.4f}; {path}")


if __name__ == "__main__":
    main()
