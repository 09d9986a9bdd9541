#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Our way from radiographs to normalised batches beside PyTorch's and tf.data's: the same files, as many decoding threads
(PyTorch: processes), on the same cores, interleaved in one run, because the speed of a machine drifts.

  tools/peers/compare_pipeline.py --data ../shared/data/nih/png --image 224 --batch 16 --workers 2 --rounds 3

--data: 8-bit gray PNG files as NIH published them are taken (tools/nih_originals.py), each --copies times; with --all every
file of the folder, as it lies there. A peer that is not installed is named and left out. A round is one run of each, in
order in even rounds and backwards in odd ones; figures are medians over the rounds, ratios of those within a round.
"""
import one_line_errors  # first: errors of the other imports, too
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "build" / "release" / "roentgen"
sys.path.insert(0, str(HERE.parent))
from nih_originals import copy_originals  # noqa: E402


def arms_of(options, folder, result):
    """Name -> command that writes JSON with images_per_s to `result`."""
    settings = ["--data", folder, "--json", result]
    for name in ("image", "batch", "workers", "warmup", "steps"):
        settings += [f"--{name}", getattr(options, name)]
    torch = [options.torch_python, HERE / "bench_pipeline_torch.py", *settings, "--reader"]
    tensorflow = [options.tf_python, HERE / "bench_pipeline_tf.py", *settings, "--order"]
    ours = [options.program, "bench", "pipeline", *settings, "--pipeline"]
    return {"roentgen default": [*ours, "default"], "roentgen tf-official": [*ours, "tf-official"],
            "torch DataLoader, PIL": [*torch, "pil"], "torch DataLoader, torchvision.io": [*torch, "io"],
            "tf.data naive": [*tensorflow, "naive"], "tf.data official": [*tensorflow, "official"]}


def has_module(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def run(command, result):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(one_line_errors.line_of_program(command, done))
    return json.loads(result.read_text())


def summary(rounds):
    """Rows {name, images_per_s, ratio, ratio_range}: ratio = ours by default / theirs. `rounds`: a table of images/s each."""
    rows = []
    for name in rounds[0]:
        ratios = [entry["roentgen default"] / entry[name] for entry in rounds]
        rows.append({"name": name, "images_per_s": statistics.median(entry[name] for entry in rounds),
                     "ratio": statistics.median(ratios), "ratio_range": [min(ratios), max(ratios)]})
    return rows


def table(rows):
    lines = [f"{'':34}{'images/s':>10}   ours / it"]
    for row in rows:
        low, high = row["ratio_range"]
        lines.append(f"{row['name']:34}{row['images_per_s']:10.1f}   {row['ratio']:.2f}x ({low:.2f} to {high:.2f})")
    return "\n".join(lines)


def measure(options, folder):
    with tempfile.TemporaryDirectory() as name:
        result = pathlib.Path(name) / "result.json"
        arms = arms_of(options, folder, result)
        for prefix, python, module in (("torch", options.torch_python, "torchvision"),
                                       ("tf", options.tf_python, "tensorflow")):
            if not has_module(python, module):
                print(f"{prefix}: {python} has no {module}, left out")
                arms = {key: command for key, command in arms.items() if not key.startswith(prefix)}
        peers, rounds = {}, []
        for index in range(options.rounds):
            speeds = {}
            for key in arms if index % 2 == 0 else reversed(arms):
                record = run(arms[key], result)
                speeds[key] = record["images_per_s"]
                peers[key] = record.get("peer", "")
            rounds.append({key: speeds[key] for key in arms})
            print(f"round {index + 1}: " + ", ".join(f"{k} {v:.1f}" for k, v in rounds[-1].items()), flush=True)
    return {"peers": peers, "rounds": rounds, "summary": summary(rounds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/nih/png"))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--torch-python", default="/usr/bin/python3", help="the interpreter that has PyTorch")
    parser.add_argument("--tf-python", default=sys.executable, help="the interpreter that has TensorFlow")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, images = options.data, None
        if not options.all:
            folder = pathlib.Path(name) / "images"
            images = copy_originals(options.data, folder, options.copies)
            print(f"{images} files, {options.copies} of each image")
        result = {"images": images, **{key: getattr(options, key) for key in
                                       ("image", "batch", "workers", "warmup", "steps")}, **measure(options, folder)}
    print(table(result["summary"]))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
