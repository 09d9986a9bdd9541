#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Training and inference of a model here and in other programs, side by side in one run.

  tools/studies/peers.py --model resnet50 --batch 16 --threads 2 --rounds 3 --python PYTORCH --tensorflow-python TENSORFLOW

Interleaved rounds: one run of `bench step`, of `bench infer` (direct and auto kernels), and of every peer's script in
tools/peers. Prints two tables: images/s of every way, medians over the rounds; and our images/s over those of the peer's
fastest way of each round: median, least and most. Ours is `auto` in training, `direct` in inference. A peer that cannot be
imported is left out, with a line that names what pip installs for it. Needs Python only; the peers need their packages.
"""
import argparse
import collections
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

from study import PROGRAM, TOOLS, bench, interleaved, markdown_table, run, words_of

# A script takes --model, --batch, --image, --threads, --warmup and --steps, and prints JSON with `peer`, its name and
# version, and `figures`, {way: images/s}. `probe`: code that fails where the script would, for lack of its packages.
# `models`: those it has; none: all. A new peer is a row.
Script = collections.namedtuple("Script", "peer what file options probe packages models")
TORCH = "import torch, torchvision"
SCRIPTS = [
    Script("torch", "training", "bench_step_torch.py", (), TORCH, "torch torchvision", ()),
    Script("torch", "inference", "bench_infer_torch.py", (), TORCH, "torch torchvision", ()),
    Script("torch-compile", "training", "bench_step_torch.py", ("--compile",), TORCH + "; torch.compile",
           "'torch>=2' torchvision", ()),
    Script("tensorflow", "training", "bench_step_tensorflow.py", (), "import tensorflow", "tensorflow-cpu",
           ("resnet50", "densenet121", "vgg16", "inception_v3")),
]
PEERS = list(dict.fromkeys(script.peer for script in SCRIPTS))


def settings_of(options):
    return {name: getattr(options, name) for name in ("model", "batch", "image", "threads", "warmup", "steps")}


def python_of(script, options):
    return options.tensorflow_python or options.python if script.peer == "tensorflow" else options.python


def obstacle(script, options):
    """Why a script cannot be run, and what would help; empty when it can."""
    if not (options.scripts / script.file).exists():
        return f"no such file in {options.scripts}"
    if script.models and options.model not in script.models:
        return f"it has no {options.model}; try one of {' '.join(script.models)}"
    python = python_of(script, options)
    try:
        if subprocess.run([python, "-c", script.probe], capture_output=True, check=False).returncode == 0:
            return ""
    except OSError:
        option = "--tensorflow-python" if script.peer == "tensorflow" else "--python"
        return f"{python} does not start; try {option} with a Python interpreter"
    return f"{python} fails at `{script.probe}`; try {shlex.quote(str(python))} -m pip install {script.packages}"


def figures_of(text, name):
    """(program, {way: images/s}) that a script printed. Ends the study where it is none."""
    try:
        result = json.loads(text)
        program, figures = result["peer"], result["figures"]
        if figures and all(speed > 0 for speed in figures.values()):
            return program, figures
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    sys.exit(f"{name}: expected JSON with `peer` and `figures`, {{way: images/s}}, got {text[:200]!r}")


def run_script(script, options):
    command = [python_of(script, options), options.scripts / script.file, *words_of(settings_of(options)), *script.options]
    program, figures = figures_of(run(command), script.file)
    return {"program": program, "figures": figures}


def run_training(options):
    step = bench(options.program, "step", **settings_of(options))
    return {"program": "roentgen", "figures": {"auto": step["images_per_s"]}, "floor_ratio": step["floor_ratio"]}


def run_inference(options):
    return {"program": "roentgen", "figures": {
        way: bench(options.program, "infer", algorithms=way, rounds=1, **settings_of(options))["batches"][0]["images_per_s"]
        for way in ("direct", "auto")}}


def require_same_ways(what, peer, rounds):
    """A peer has the same ways in all rounds."""
    for entry in rounds:
        if list(entry["figures"]) != list(rounds[0]["figures"]):
            sys.exit(f"{what}, {peer}: expected {', '.join(rounds[0]['figures'])}, as in the first round, got "
                     f"{', '.join(entry['figures'])}; try the peer's script alone, twice")


def first_way(entry):
    return next(iter(entry["figures"].values()))


def summary(runs):
    """{table, ratios, floor_ratio}. `runs`: {(what, peer): a run for each round}; "-" is the peer that is us."""
    table, ratios = [], []
    for (what, peer), rounds in sorted(runs.items(), key=lambda item: item[0][0], reverse=True):  # training first
        require_same_ways(what, peer, rounds)
        ours = [first_way(entry) for entry in runs[what, "-"]]
        for way in rounds[0]["figures"]:
            speeds = [entry["figures"][way] for entry in rounds]
            table.append({"what": what, "peer": peer, "program": rounds[0]["program"], "way": way,
                          "images_per_s": statistics.median(speeds),
                          "ours_over_it": statistics.median(a / b for a, b in zip(ours, speeds))})
        if peer != "-":
            over = [a / max(entry["figures"].values()) for a, entry in zip(ours, rounds)]
            ratios.append({"what": what, "peer": peer, "program": rounds[0]["program"],
                           "ours_over_it": statistics.median(over), "least": min(over), "most": max(over)})
    floors = [entry["floor_ratio"] for entry in runs["training", "-"] if entry["floor_ratio"] is not None]
    return {"table": table, "ratios": ratios, "floor_ratio": statistics.median(floors) if floors else None}


def markdown(result):
    def text(rows):
        if not rows:
            return "none\n"
        return markdown_table(rows[0], [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row.values()]
                                        for row in rows])

    return f"{text(result['table'])}\n{text(result['ratios'])}"


def peer_names(text):
    names = text.split(",")
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"expected names of {', '.join(PEERS)}, with commas, got '{name}'")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=peer_names, default=PEERS, help=f"with commas: {', '.join(PEERS)}")
    parser.add_argument("--scripts", type=pathlib.Path, default=TOOLS / "peers", help="folder of the peers' scripts")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--tensorflow-python", help="the one that has TensorFlow, if another")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if not options.scripts.is_dir():
        parser.error(f"--scripts: expected a folder with the scripts of tools/peers, got {options.scripts}")
    arms = {("training", "-"): run_training, ("inference", "-"): run_inference}
    missing = []
    for script in (script for script in SCRIPTS if script.peer in options.peers):
        why = obstacle(script, options)
        if why:
            missing.append(f"{script.peer}, {script.what} ({script.file}) left out: {why}")
            print(missing[-1], file=sys.stderr)
        else:
            arms[script.what, script.peer] = lambda options, script=script: run_script(script, options)
    runs = {arm: [] for arm in arms}
    for index, arm in interleaved(arms, options.rounds):
        runs[arm].append(arms[arm](options))
        print(f"round {index + 1}, {', '.join(arm)}: {runs[arm][-1]['figures']}", file=sys.stderr, flush=True)
    result = {"case": "peers", **settings_of(options), "rounds": options.rounds, **summary(runs), "missing": missing}
    print(markdown(result), end="")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
