#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""A PyTorch training of ResNet-18 on roentgen.Loader and on DataLoader, as tables in Markdown.

  tools/studies/torch_step.py --python VENV/bin/python --work FOLDER --json torch_step.json

FOLDER is one that tools/studies/loaders.py has filled; VENV has PyTorch, torchvision and a wheel of roentgen. Both
loaders have two threads or workers, beside 1 and 2 threads of PyTorch on two cores. DataLoader decodes with
torchvision.io; its raw records are an np.memmap. Every arm is a process of tools/peers/bench_loader_step.py, in
interleaved rounds; figures are medians over the rounds (least to most), ratios those within a round. An idle loader's
cost is the step after it was made over the step before, beside the same of a process that makes none.
"""
import json
import os
import pathlib
import statistics
import sys

from study import PROGRAM, TOOLS, interleaved, markdown_table, package_text, parser_of, run, words_of, write

SCRIPT = TOOLS / "peers" / "bench_loader_step.py"
OURS, IDLE = "roentgen", "idle"
DATA_LOADERS = {"png": "torchvision", "jpeg": "torchvision", "raw": "memmap"}


def measure(options):
    threads = [int(word) for word in options.torch_threads.split(",")]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:max(threads)])
    package = package_text(options.python)
    cases = options.cases.split(",") if options.cases else []
    arms = [(case, loader, n) for case in cases for loader in (OURS, DATA_LOADERS[case]) for n in threads] + [
        (IDLE, loader, n) for loader in (OURS, "none") for n in threads]
    runs, loads = {arm: [] for arm in arms}, []
    for index, arm in interleaved(arms, options.rounds):
        case, loader, n = arm
        settings = {"loader": loader, "case": "png" if case == IDLE else case, "idle": case == IDLE, "threads": n}
        shared = {name: getattr(options, name) for name in ("work", "batch", "workers", "warmup", "steps")}
        result = json.loads(run([options.python, SCRIPT, *words_of(settings | shared)]))
        runs[arm].append(result["figures"])
        loads.append(os.getloadavg()[0])
        print(f"round {index + 1}, {arm}: {result['figures']}, load {loads[-1]:.1f}", file=sys.stderr, flush=True)
    rows = [{"case": case, "loader": loader, "threads": n, "rounds": figures}
            for (case, loader, n), figures in runs.items()]
    settings = {name: getattr(options, name) for name in ("batch", "workers", "steps", "rounds")}
    return {"case": "torch_step", "package": package, "peer": result["peer"], **settings, "loads": loads, "rows": rows}


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def markdown(record):
    """Two tables: training runs, and idle loaders."""
    rows = {(row["case"], row["loader"], row["threads"]): row["rounds"] for row in record["rows"]}

    def ratios(ours, theirs):
        return [a / b for a, b in zip(ours, theirs, strict=True)]

    threads = list(dict.fromkeys(n for _, _, n in rows))
    trained, idle = [], []
    for case, peer in DATA_LOADERS.items():
        for n in threads:
            if (case, OURS, n) in rows:
                ours, theirs = ([1e3 / figures["ms"] for figures in rows[case, loader, n]] for loader in (OURS, peer))
                trained.append([case, n, spread(ours), spread(theirs), spread(ratios(ours, theirs))])
    for n in threads:
        ours, none = ([figures["after_ms"] / figures["before_ms"] for figures in rows[IDLE, loader, n]]
                      for loader in (OURS, "none"))
        before = [figures["before_ms"] for loader in (OURS, "none") for figures in rows[IDLE, loader, n]]
        idle.append([n, spread(before, 0), spread(ours, 3), spread(none, 3), spread(ratios(ours, none), 3)])
    loads = record["loads"]
    text = (f"{record['peer']}, ResNet-18, batches of {record['batch']}, {record['workers']} loading threads or "
            f"workers, {record['rounds']} rounds of {record['steps']} steps. Load average {min(loads):.1f} to "
            f"{max(loads):.1f}. Package: {record.get('package', 'not recorded')}.\n\n")
    if trained:
        text += markdown_table(["case", "threads", "Loader, steps/s", "DataLoader, steps/s", "ratio"], trained) + "\n"
    head = ["threads", "step, ms", "after / before, Loader", "after / before, none", "ratio"]
    return text + markdown_table(head, idle)


def main():
    parser = parser_of(__doc__, cases="png,jpeg,raw", batch=32, workers=2, torch_threads="1,2", rounds=5, warmup=2,
                       steps=5)
    parser.add_argument("--work", type=pathlib.Path, default=PROGRAM.parent / "loaders")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has PyTorch and roentgen")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="JSON of an earlier run, instead of a run")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    record = json.loads(options.source.read_text()) if options.source else measure(options)
    write(options, record, markdown(record))


if __name__ == "__main__":
    main()
