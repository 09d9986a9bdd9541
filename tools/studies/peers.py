#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares training, inference and input pipelines of Roentgen with those of other programs, in one run.

  tools/studies/peers.py --model resnet50 --batch 16 --threads 2 --rounds 3 --python PYTORCH --tensorflow-python TENSORFLOW
  tools/studies/peers.py --what training --peers torch --dtype bf16 --peer-dtype bf16 --python PYTORCH
  tools/studies/peers.py --what pipeline --data ../shared/data/nih/png --warmup 4 --steps 20 --python PYTORCH

Interleaved rounds, since the speed of a machine drifts: one run of `bench step`, of `bench infer` (auto and direct
kernels) or of `bench pipeline` (default and tf-official), and of every peer's script in tools/peers. Prints two tables:
images/s of every variant, as medians over the rounds, and ratios of images/s, ours over the peer's, as median, smallest
and largest of the rounds. Our variant is the first. If variants of a peer differ only after the last comma, mostly in
the memory layout, they have one ratio: to the fastest in each round. A peer that cannot be imported is left out, with a
line that names the package for pip.
--data: 8-bit gray PNG files as NIH published them are taken (tools/nih_originals.py), each --copies times; with --all
every file of the folder, as it lies there. Needs Python only; the peers need their packages.
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
import tempfile

from study import TOOLS, bench, interleaved, markdown_table, parser_of, run, words_of, write

sys.path.insert(0, str(TOOLS))
from nih_originals import copy_originals  # noqa: E402

# A script takes the options of settings_of(), in training also --dtype, and prints JSON with `peer`, its name and
# version, and `figures`, {way: images/s}. `probe`: code that fails if the script's packages are missing. `models`:
# models that the script supports; none: all. A new peer needs one row.
Script = collections.namedtuple("Script", "peer what file options probe packages models")
TORCH = "import torch, torchvision"
SCRIPTS = [
    Script("torch", "training", "bench_step_torch.py", (), TORCH, "torch torchvision", ()),
    Script("torch", "inference", "bench_infer_torch.py", (), TORCH, "torch torchvision", ()),
    Script("torch-compile", "training", "bench_step_torch.py", ("--compile",), TORCH + "; torch.compile",
           "'torch>=2' torchvision", ()),
    Script("tensorflow", "training", "bench_step_tensorflow.py", (), "import tensorflow", "tensorflow-cpu",
           ("resnet50", "densenet121", "vgg16", "inception_v3")),
    Script("torch", "pipeline", "bench_pipeline_torch.py", (), TORCH + ", PIL", "torch torchvision pillow", ()),
    Script("tensorflow", "pipeline", "bench_pipeline_tensorflow.py", (), "import tensorflow", "tensorflow-cpu", ()),
]
PEERS = list(dict.fromkeys(script.peer for script in SCRIPTS))
WHAT = list(dict.fromkeys(script.what for script in SCRIPTS))


def settings_of(what, options):
    """Options that `bench` and the peers' scripts share."""
    subject = "data" if what == "pipeline" else "model"
    return {name: getattr(options, name) for name in (subject, "batch", "image", "threads", "warmup", "steps")}


def python_of(script, options):
    return options.tensorflow_python or options.python if script.peer == "tensorflow" else options.python


def obstacle(script, options):
    """Reason why a script cannot run, and what would help; empty if it can run."""
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
    """(program, {way: images/s}) that a script printed. Ends the study if there is none."""
    try:
        result = json.loads(text)
        program, figures = result["peer"], result["figures"]
        if figures and all(speed > 0 for speed in figures.values()):
            return program, figures
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    sys.exit(f"{name}: expected JSON with `peer` and `figures`, {{way: images/s}}, got {text[:200]!r}")


def run_script(script, options):
    settings = settings_of(script.what, options)
    if script.what == "training":
        settings["dtype"] = options.peer_dtype
    command = [python_of(script, options), options.scripts / script.file, *words_of(settings), *script.options]
    program, figures = figures_of(run(command), script.file)
    return {"program": program, "figures": figures}


def run_ours(what, options):
    settings = settings_of(what, options)
    if what == "training":
        step = bench(options.program, "step", dtype=options.dtype, **settings)
        return {"program": "roentgen", "figures": {"auto": step["images_per_s"]}, "floor_ratio": step["floor_ratio"]}
    if what == "inference":
        results = {way: bench(options.program, "infer", algorithms=way, rounds=1, **settings)
                   for way in ("auto", "direct")}
        figures = {way: result["batches"][0]["images_per_s"] for way, result in results.items()}
    else:
        workers = settings.pop("threads")
        figures = {way: bench(options.program, "pipeline", pipeline=way, workers=workers, **settings)["images_per_s"]
                   for way in ("default", "tf-official")}
    return {"program": "roentgen", "figures": figures}


def require_same_ways(what, peer, rounds):
    """Fails unless a peer has the same ways in all rounds."""
    for entry in rounds:
        if list(entry["figures"]) != list(rounds[0]["figures"]):
            sys.exit(f"{what}, {peer}: expected {', '.join(rounds[0]['figures'])}, as in the first round, got "
                     f"{', '.join(entry['figures'])}; try the peer's script alone, twice")


def first_way(entry):
    return next(iter(entry["figures"].values()))


def ratios_of(ours, theirs):
    """Median, smallest and largest ratio of the rounds."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    return {"ours_over_it": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}


def summary(runs):
    """{table, ratios, floor_ratio}. `runs`: {(what, peer): a run for each round}; roentgen is the peer "-"."""
    table, ratios = [], []
    for (what, peer), rounds in sorted(runs.items(), key=lambda item: WHAT.index(item[0][0])):
        require_same_ways(what, peer, rounds)
        ours = [first_way(entry) for entry in runs[what, "-"]]
        fastest = collections.defaultdict(lambda: [0] * len(rounds))  # images/s of the fastest variant in each round
        row = {"what": what, "peer": peer, "program": rounds[0]["program"]}
        for way in rounds[0]["figures"]:
            speeds = [entry["figures"][way] for entry in rounds]
            table.append({**row, "way": way, "images_per_s": statistics.median(speeds), **ratios_of(ours, speeds)})
            kind = way.rpartition(", ")[0]
            fastest[kind] = list(map(max, fastest[kind], speeds))
        if peer != "-":
            ratios += [{**row, "way": kind, **ratios_of(ours, speeds)} for kind, speeds in fastest.items()]
    floors = [entry["floor_ratio"] for entry in runs.get(("training", "-"), []) if entry["floor_ratio"] is not None]
    return {"table": table, "ratios": ratios, "floor_ratio": statistics.median(floors) if floors else None}


def markdown(result):
    def text(rows):
        if not rows:
            return "none\n"
        return markdown_table(rows[0], [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row.values()]
                                        for row in rows])

    return f"{text(result['table'])}\n{text(result['ratios'])}"


def names_of(known):
    """Argument type: names from `known`, separated by commas."""
    def names(text):
        for name in text.split(","):
            if name not in known:
                raise argparse.ArgumentTypeError(f"expected names of {', '.join(known)}, with commas, got '{name}'")
        return text.split(",")

    return names


def measure(options):
    """Runs every program in each round. Returns the record of results."""
    arms = {(what, "-"): lambda options, what=what: run_ours(what, options) for what in options.what}
    missing = []
    for script in (script for script in SCRIPTS if script.peer in options.peers and script.what in options.what):
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
    settings = {**settings_of("training", options), "rounds": options.rounds}
    return {"case": "peers", **settings, **summary(runs), "missing": missing}


def main():
    parser = parser_of(__doc__, model="resnet50", batch=16, image=224, threads=len(os.sched_getaffinity(0)), warmup=2,
                       steps=5, rounds=3)
    parser.add_argument("--what", type=names_of(WHAT), default=["training", "inference"],
                        help=f"with commas: {', '.join(WHAT)}; default: training,inference")
    parser.add_argument("--peers", type=names_of(PEERS), default=PEERS, help=f"with commas: {', '.join(PEERS)}")
    parser.add_argument("--dtype", choices=["f32", "bf16", "auto"], default="f32", help="of our training")
    parser.add_argument("--peer-dtype", choices=["f32", "bf16"], default="f32", help="of the peers' training")
    parser.add_argument("--data", type=pathlib.Path, default="../shared/data/nih/png", help="of pipelines")
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--scripts", type=pathlib.Path, default=TOOLS / "peers", help="folder of the peers' scripts")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--tensorflow-python", help="the one that has TensorFlow, if another")
    options = parser.parse_args()
    if not options.scripts.is_dir():
        parser.error(f"--scripts: expected a folder with the scripts of tools/peers, got {options.scripts}")
    with tempfile.TemporaryDirectory() as folder:
        if "pipeline" in options.what and not options.all:
            images = pathlib.Path(folder) / "images"
            count = copy_originals(options.data, images, options.copies)
            print(f"{count} files, {options.copies} of each image", file=sys.stderr)
            options.data = images
        result = measure(options)
    write(options, result, markdown(result))


if __name__ == "__main__":
    main()
