#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Our inference beside PyTorch's, interleaved in one run, because the speed of a machine drifts.

  python3 tools/peers/compare_infer.py --model resnet50 --batch 1,16 --image 224 --threads 2 --rounds 3

A round is one run of each, ours first in even rounds and last in odd ones. Figures are medians over the rounds of
(our images/s) / (PyTorch's images/s), for each batch size and each way of PyTorch's (eager, frozen) in its better layout
of that round. Ours is run with direct convolutions, as eval and predict use them, and with the faster of direct and
Winograd's (--algorithms auto).
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from compare_step import HERE, PROGRAM, run

WAYS = ("eager", "frozen")


def of_round(mine, peer):
    """{batch: {direct, auto, eager, frozen, direct/eager, ...}} in images/s and ratios."""
    table = {}
    for index, entry in enumerate(peer["batches"]):
        row = {name: result["batches"][index]["images_per_s"] for name, result in mine.items()}
        for way in WAYS:
            row[way] = max(layout["images_per_s"] for layout in entry["ways"][way].values())
        row.update({f"{name}/{way}": row[name] / row[way] for name in mine for way in WAYS})
        table[entry["batch"]] = row
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", default="1,16", help="batch sizes, with commas between them")
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--algorithms", default="direct,auto", help="ours to run, with commas")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has PyTorch")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    settings = [word for name in ("model", "batch", "image", "threads", "warmup", "steps")
                for word in (f"--{name}", str(getattr(arguments, name)))] + ["--rounds", "1"]
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"

        def ours():
            return {name: run([arguments.program, "bench", "infer", *settings, "--algorithms", name, "--json", file], file)
                    for name in arguments.algorithms.split(",")}

        def torch():
            return run([arguments.python, HERE / "bench_infer_torch.py", *settings, "--json", file], file)

        for index in range(arguments.rounds):
            if index % 2 == 0:
                mine, peer = ours(), torch()
            else:
                peer, mine = torch(), ours()
            rounds.append(of_round(mine, peer))
            for batch, row in rounds[-1].items():
                print(f"round {index + 1}, batch {batch}: " + ", ".join(f"{k} {v:.2f}" for k, v in row.items()), flush=True)
    medians = {batch: {key: statistics.median(entry[batch][key] for entry in rounds) for key in row}
               for batch, row in rounds[0].items()}
    for batch, row in medians.items():
        ratios = ", ".join(f"{key} {value:.2f}x" for key, value in row.items() if "/" in key)
        print(f"{arguments.model}, batch {batch}, {arguments.image} px, {arguments.threads} threads, {peer['peer']}: "
              f"{ratios} (medians of {len(rounds)} rounds, better layout)")
    if arguments.json:
        result = {**{k: getattr(arguments, k) for k in ("model", "image", "threads")}, "peer": peer["peer"],
                  "rounds": rounds, "medians": medians}
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
