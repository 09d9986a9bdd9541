#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Measures images/s of training steps by batch size, image side and number of threads, as tables in Markdown.

  tools/studies/steps.py --models resnet50,densenet121 --json step.json > tables.md

Every point runs once per round, in alternating order, because the speed of a machine drifts. Results are medians over
the rounds, and ratios are medians of the rounds' ratios. Points that need more memory than the machine has are left out
and named. Run it on a quiet machine.
"""
import statistics
import sys

from study import bench, interleaved, markdown_table, parser_of, write


def points(arguments):
    """Settings of every point, by table: {table: [(model, batch, image, threads)]}."""
    numbers = lambda text: [int(word) for word in text.split(",")]
    tables = {"batch": [], "image": [], "threads": []}
    for model in arguments.models.split(","):
        tables["batch"] += [(model, n, 224, arguments.threads) for n in numbers(arguments.batches)]
        tables["image"] += [(model, arguments.batch, n, arguments.threads) for n in numbers(arguments.images)]
        tables["threads"] += [(model, arguments.batch, 224, n) for n in sorted({1, arguments.threads})]
    return tables


def measure(arguments, point):
    """images/s and peak memory of one run; None if the machine has too little memory."""
    model, batch, image, threads = point
    result = bench(arguments.program, "step", allowed="[engine.cpu] memory", model=model, batch=batch, image=image,
                   threads=threads, warmup=arguments.warmup, steps=arguments.steps)
    return result and {key: result[key] for key in ("images_per_s", "floor_ratio", "peak_bytes")}


def markdown(tables, runs):
    """The tables; `of the first` is the rate relative to the first point of the same model."""
    column = {"batch": 1, "image": 2, "threads": 3}
    texts = []
    for name, points_of_table in tables.items():
        rows, first = [], {}
        for point in points_of_table:
            all_runs = runs[point]
            if not all_runs:
                rows.append([point[0], point[column[name]], "more memory than there is", "", "", ""])
                continue
            base = first.setdefault(point[0], all_runs)
            gain = statistics.median(a["images_per_s"] / b["images_per_s"] for a, b in zip(all_runs, base))
            rate = statistics.median(run["images_per_s"] for run in all_runs)
            floors = [run["floor_ratio"] for run in all_runs if run["floor_ratio"] is not None]
            floor = f"{statistics.median(floors):.2f}" if floors else "-"
            rows.append([point[0], point[column[name]], f"{rate:.2f}", f"{gain:.2f}x", floor,
                         f"{all_runs[0]['peak_bytes'] / 2**20:.0f}"])
        head = ["network", name, "images/s", "of the first", "step / conv floor", "peak, MiB"]
        texts.append(markdown_table(head, rows))
    return "\n".join(texts)


def main():
    parser = parser_of(__doc__, models="resnet50,densenet121", threads=2, rounds=3, warmup=1, steps=3)
    parser.add_argument("--batches", default="1,2,4,8,16,32,64", help="at 224 px")
    parser.add_argument("--images", default="64,128,224,320,512", help="sides in pixels")
    parser.add_argument("--batch", type=int, default=16, help="of the tables by image and by threads")
    arguments = parser.parse_args()
    tables = points(arguments)
    order = list(dict.fromkeys(point for rows in tables.values() for point in rows))
    runs = {point: [] for point in order}
    for index, point in interleaved(order, arguments.rounds):
        result = measure(arguments, point)
        if result:
            runs[point].append(result)
        print(f"round {index + 1}: {point}: {result['images_per_s'] if result else 'no memory'}", file=sys.stderr)
    rows = [{"model": p[0], "batch": p[1], "image_px": p[2], "threads": p[3], "rounds": runs[p]} for p in order]
    write(arguments, rows, markdown(tables, runs))


if __name__ == "__main__":
    main()
