#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Our inference beside PyTorch's, interleaved in one run, because the speed of a machine drifts.

  python3 tools/peers/compare_infer.py --model resnet50 --batch 1,16 --image 224 --threads 2 --rounds 3

A round is one run of each, ours first in even rounds and last in odd ones. Figures are medians over the rounds of
(our images/s) / (PyTorch's images/s), for each batch size and each way of PyTorch's (eager, frozen) in its better layout
of that round; and of the fastest runs of all rounds, which say more where others use the machine. Ours is run with direct
convolutions, as eval and predict use them, and with the faster of direct and
Winograd's (--algorithms auto). With one thread PyTorch 1.13 computes eager convolutions without oneDNN, ten times slower: compare
with two or more.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from compare_step import HERE, PROGRAM, run

WAYS = ("eager", "frozen")


def of_round(mine, peer):
    """{batch: {speeds, ratios, best_ms}}: images/s, ours over theirs, and the fastest runs."""
    table = {}
    for index, entry in enumerate(peer["batches"]):
        ours = {name: result["batches"][index] for name, result in mine.items()}
        speeds = {name: row["images_per_s"] for name, row in ours.items()}
        best_ms = {name: row["best_ms"] for name, row in ours.items()}
        for way in WAYS:
            layouts = entry["ways"][way].values()
            speeds[way] = max(layout["images_per_s"] for layout in layouts)
            best_ms[way] = min(layout["latency_ms"]["best"] for layout in layouts)
        ratios = {f"{name}/{way}": speeds[name] / speeds[way] for name in ours for way in WAYS}
        table[entry["batch"]] = {"speeds": speeds, "ratios": ratios, "best_ms": best_ms}
    return table


def over_rounds(rounds, batch):
    """Medians of speeds and ratios, and ratios of the fastest runs of all rounds."""
    rows = [entry[batch] for entry in rounds]
    result = {kind: {key: statistics.median(row[kind][key] for row in rows) for key in rows[0][kind]}
              for kind in ("speeds", "ratios")}
    best_ms = {key: min(row["best_ms"][key] for row in rows) for key in rows[0]["best_ms"]}
    result["best_ms"] = best_ms
    result["ratios_of_best"] = {key: best_ms[key.split("/")[1]] / best_ms[key.split("/")[0]] for key in result["ratios"]}
    return result


def text_of(figures, form="{:.2f}"):
    return ", ".join(f"{key} {form.format(value)}" for key, value in figures.items())


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
                print(f"round {index + 1}, batch {batch}: images/s {text_of(row['speeds'])}", flush=True)
    summary = {batch: over_rounds(rounds, batch) for batch in rounds[0]}
    for batch, row in summary.items():
        print(f"{arguments.model}, batch {batch}, {arguments.image} px, {arguments.threads} threads, {peer['peer']}, "
              f"{len(rounds)} rounds, better layout: medians {text_of(row['ratios'], '{:.2f}x')}; "
              f"fastest runs {text_of(row['ratios_of_best'], '{:.2f}x')}")
    if arguments.json:
        result = {**{k: getattr(arguments, k) for k in ("model", "image", "threads")}, "peer": peer["peer"],
                  "rounds": rounds, "summary": summary}
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
