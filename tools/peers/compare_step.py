#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Our training step beside PyTorch's or TensorFlow's, interleaved in one run, because the speed of a machine drifts.

  python3 tools/peers/compare_step.py --model resnet50 --batch 16 --image 224 --threads 2 --rounds 3

A round is one run of each, ours first in even rounds and last in odd ones. The figure is the median over the rounds of
(our images/s) / (the peer's images/s in its better layout of that round; TensorFlow's with XLA or without, whichever is
better). --dtype is ours, --peer-dtype the peer's, and --compile takes PyTorch's model through torch.compile.
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


def run(command, output):
    """Runs a command that writes JSON to `output`; returns the JSON."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(one_line_errors.line_of_program(command, done))
    return json.loads(output.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--dtype", choices=["f32", "bf16", "auto"], default="f32")
    parser.add_argument("--peer-dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--peer", choices=["torch", "tensorflow"], default="torch")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peer")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    settings = [word for name in ("model", "batch", "image", "threads", "warmup", "steps")
                for word in (f"--{name}", str(getattr(arguments, name)))]
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"
        ours = lambda: run([arguments.program, "bench", "step", *settings, "--dtype", arguments.dtype, "--json", file],
                           file)
        asked = ["--dtype", arguments.peer_dtype, *(["--compile"] if arguments.compile else [])]
        script = HERE / f"bench_step_{arguments.peer}.py"
        theirs = lambda: run([arguments.python, script, *settings, *asked, "--json", file], file)
        for index in range(arguments.rounds):
            if index % 2 == 0:
                mine, peer = ours(), theirs()
            else:
                peer, mine = theirs(), ours()
            entry = {"ours": mine["images_per_s"], "ratio": mine["images_per_s"] / peer["images_per_s"],
                     **{layout: values["images_per_s"] for layout, values in peer["layouts"].items()}}
            for key in ("floor_ratio", "framework_share"):
                if mine.get(key) is not None:
                    entry[key] = mine[key]
            rounds.append(entry)
            print(f"round {index + 1}: " + ", ".join(f"{k} {v:.2f}" for k, v in entry.items()), flush=True)
    ratio = statistics.median(entry["ratio"] for entry in rounds)
    said = ("model", "batch", "image", "threads", "dtype", "peer_dtype", "compile")
    result = {**{k: getattr(arguments, k) for k in said}, "peer": peer["peer"], "rounds": rounds, "ratio": ratio}
    way = next(iter(peer["figures"])).rpartition(",")[0]
    print(f"{arguments.model}, batch {arguments.batch}, {arguments.image} px, {arguments.threads} threads, "
          f"{mine['dtype']}: {ratio:.2f}x {peer['peer']}, {way} (median of {len(rounds)} rounds, better layout)")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
