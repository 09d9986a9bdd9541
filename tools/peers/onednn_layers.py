#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares each convolution of some networks between a newer oneDNN and the kernels that `roentgen bench choose` times.
Rounds are interleaved; a layer's time is the shortest of all rounds, because other programs only ever add to it.

  tools/peers/onednn_layers.py --include FOLDER --library FILE [--models A,B] [--batch N] [--threads N] [--rounds N]
                               [--program FILE] [--json FILE]

--include: the folder that holds oneapi/dnnl/dnnl.hpp, of the package onednn-devel. --library: a shared library with oneDNN in
it: libdnnl.so.3 of the package onednn-cpu-gomp, or libtorch_cpu.so of PyTorch's.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LAYER = re.compile(r"^\((?P<src>[\d, ]+)\) -> \((?P<dst>[\d, ]+)\) window (?P<window>[\dx]+) stride (?P<stride>[\dx]+) "
                   r"dilation (?P<dilation>[\dx]+) pad (?P<pad>[\dx]+) f32 (?P<pass>\w+),")


def numbers(text):
    return [int(number) for number in re.split("x|, ", text)]


def request_of(layer):
    """Description of a layer as one input line of onednn_layers.cpp."""
    match = LAYER.match(layer)
    if match is None:
        raise SystemExit(f"bench choose names a layer in a way this script does not know: {layer}")
    src, dst, window = (numbers(match[name]) for name in ("src", "dst", "window"))
    if src[1] != window[1]:
        raise SystemExit(f"a convolution in groups, which this script does not compare: {layer}")
    stride, pad, dilation = (numbers(match[name]) for name in ("stride", "pad", "dilation"))
    return " ".join(map(str, [match["pass"], *src, *dst[1:], *window[2:], *stride, *pad, *dilation]))


def compiled(folder, options):
    program = pathlib.Path(folder) / "onednn_layers"
    library = options.library.resolve()
    subprocess.run(["g++", "-std=c++20", "-O2", f"-I{options.include}", str(HERE / "onednn_layers.cpp"), str(library), "-Wl,--allow-shlib-undefined",
                    f"-Wl,-rpath,{library.parent}", "-o", str(program)], check=True)
    return program


def own_layers(options):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([options.program, "bench", "choose", "--models", options.models, "--batch", str(options.batch), "--threads",
                        str(options.threads), "--json", file.name], check=True, stdout=subprocess.DEVNULL)
        return json.loads(pathlib.Path(file.name).read_text())["layers"]


def peer_layers(program, layers, threads):
    """Version of oneDNN, and for each layer its milliseconds, kernel, and whether it uses blocked values."""
    requests = "\n".join(request_of(layer["layer"]) for layer in layers) + "\n"
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    output = subprocess.run([program], input=requests, env=environment, check=True, capture_output=True, text=True).stdout
    version, *lines = output.splitlines()
    if len(lines) != len(layers):
        raise SystemExit(f"{len(layers)} layers asked for, {len(lines)} timed")
    return version, [(float(ms), kernel, blocked == "1") for ms, kernel, blocked in (line.split() for line in lines)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="resnet50,densenet121")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", default="build/release/roentgen")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    own, peer = [], []
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder, options)
        for _ in range(options.rounds):
            own.append(own_layers(options))
            version, times = peer_layers(program, own[0], options.threads)
            peer.append(times)
    rows = []
    for i, layer in enumerate(own[0]):
        names = [key for key in layer if key.endswith("_ms")]
        ms = {name.removesuffix("_ms"): min(round_[i][name] for round_ in own) for name in names}
        row = {"layer": layer["layer"], "times": layer["times"], "chosen": layer["chosen"], "ms": ms,
               "peer_ms": min(round_[i][0] for round_ in peer), "peer_kernel": peer[0][i][1],
               "peer_blocked": peer[0][i][2]}
        rows.append(row)
    print(f"oneDNN {version}, {options.models}, batch {options.batch}, {options.threads} threads, {options.rounds} rounds; "
          f"ms of all layers")
    print(f"{'pass':18} {'ours, by rule':>14} {'direct':>10} {'newer':>10} {'best of both':>13}   layers that the newer wins by 3%")
    for pass_ in ("forward", "backward_data", "backward_weights", ""):
        of_pass = [row for row in rows if f" {pass_}," in row["layer"] or not pass_]
        total = {name: sum(row["times"] * value(row) for row in of_pass) for name, value in {
            "ours": lambda row: row["ms"][row["chosen"]], "direct": lambda row: row["ms"]["direct"],
            "newer": lambda row: row["peer_ms"],
            "best": lambda row: min(row["peer_ms"], row["ms"][row["chosen"]])}.items()}
        wins = sum(row["peer_ms"] < 0.97 * row["ms"][row["chosen"]] for row in of_pass)
        print(f"{pass_ or 'all':18} {total['ours']:14.1f} {total['direct']:10.1f} {total['newer']:10.1f} {total['best']:13.1f}   "
              f"{wins} of {len(of_pass)}")
    lost = sorted(rows, key=lambda row: row["times"] * (row["peer_ms"] - row["ms"][row["chosen"]]))
    print("where the newer one wins most:")
    for row in lost[:12]:
        ms = row["ms"][row["chosen"]]
        if row["peer_ms"] < ms:
            print(f"  {row['times'] * (ms - row['peer_ms']):6.2f} ms ({ms:.3f} to {row['peer_ms']:.3f}, {row['times']} times): "
                  f"{row['layer']}; ours {row['chosen']}, its {row['peer_kernel']}{'' if row['peer_blocked'] else ', not in blocks'}")
    if options.json:
        options.json.write_text(json.dumps({"onednn": version, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
