#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""The experiment of input pipelines over ranks: {naive, default} x {raw, TFRecord} x {ResNet-50, DenseNet-121} x {1, 2, 4
ranks}, as JSON, as a table in Markdown and as a figure in SVG.

  tools/studies/scaling.py --json scaling.json --markdown scaling.md --svg scaling.svg      # 25 minutes
  tools/studies/scaling.py --from scaling.json --markdown scaling.md --svg scaling.svg      # again, no run

Devices and storage are emulated: a step lasts batch / rate seconds on every rank, and every read of a file waits. Images are
really decoded, and gradients really travel. Draws the images (`roentgen synth`) and converts them into a temporary
folder. Rounds over all cells; a figure is the median of its rounds. What the runs took of the cores is measured.
"""
import json
import os
import pathlib
import resource
import statistics
import tempfile
import time

from study import NAMES, bench, cpu_text, markdown_table, parser_of, run, write

PIPELINES = ("naive", "default")
FORMATS = ("raw", "tfrecord")
FORMAT_NAMES = {"raw": "raw", "tfrecord": "TFRecord"}
LINEAR = 0.9  # share of the ideal speed-up
FLAT = 0.2  # share of one device's throughput that each further device adds
COLOURS = {("naive", "raw"): "#b3441e", ("naive", "tfrecord"): "#e8963f", ("default", "raw"): "#1d6996",
           ("default", "tfrecord"): "#38a6a5"}


def cells_of(record):
    """Median, smallest and largest value of the rounds by (model, pipeline, format), then by ranks."""
    cells = {}
    for point in record["points"]:
        key = (point["model"], point["pipeline"], point["format"])
        cells.setdefault(key, {}).setdefault(point["ranks"], []).append(point)
    return {key: {ranks: {"images_per_s": statistics.median(p["images_per_s"] for p in points),
                          "min": min(p["images_per_s"] for p in points),
                          "max": max(p["images_per_s"] for p in points),
                          "data_wait": statistics.median(p["data_wait"] for p in points),
                          "comm_exposed": statistics.median(p["comm_exposed"] for p in points)}
                  for ranks, points in sorted(by_ranks.items())} for key, by_ranks in cells.items()}


def sentence(by_ranks):
    """Sentence about a row. `by_ranks`: its cells."""
    first, last = min(by_ranks), max(by_ranks)
    ratio = by_ranks[last]["images_per_s"] / by_ranks[first]["images_per_s"]
    more = last / first
    kind = "linear" if ratio >= LINEAR * more else "flat" if ratio - 1 <= FLAT * (more - 1) else "in between"
    return (f"{kind}: {more:.0f} times the devices, {ratio:.2f} times the work; they wait "
            f"{by_ranks[last]['data_wait']:.0%} of the time")


def gain_sentences(cells):
    """Sentence about the gains of TFRecords and of the order, at the largest number of ranks."""
    lines = []
    for model in dict.fromkeys(key[0] for key in cells):
        most = max(cells[(model, PIPELINES[0], FORMATS[0])])
        at = {(p, f): cells[(model, p, f)][most]["images_per_s"] for p in PIPELINES for f in FORMATS}
        records = {p: round(100 * (at[p, "tfrecord"] / at[p, "raw"] - 1)) for p in PIPELINES}  # whole numbers, never -0
        lines.append(f"- {NAMES[model]}, {most} ranks: records gain {records['naive']}% in the naive order and "
                     f"{records['default']}% in the default one; the order "
                     f"gains {at['default', 'raw'] / at['naive', 'raw']:.1f}x on raw files and "
                     f"{at['default', 'tfrecord'] / at['naive', 'tfrecord']:.1f}x on records.")
    return "\n".join(lines) + "\n"


def rounds_text(record):
    return "one round" if record["rounds"] == 1 else f"{record['rounds']} rounds"


def cell_text(cell, record):
    spread = "" if record["rounds"] == 1 else f"{cell['min']:.1f} to {cell['max']:.1f}; "
    return f"{cell['images_per_s']:.1f} ({spread}{cell['data_wait']:.0%})"


def markdown(record):
    cells = cells_of(record)
    ranks = sorted({point["ranks"] for point in record["points"]})
    rows = [[f"{NAMES[model]}, {record['rates'][model]:g}/s a rank", pipeline, FORMAT_NAMES[form],
             *(cell_text(by_ranks[n], record) for n in ranks), sentence(by_ranks)]
            for (model, pipeline, form), by_ranks in cells.items()]
    columns = [f"{n} rank{'s' if n > 1 else ''}" for n in ranks]
    text = markdown_table(["network (emulated)", "pipeline", "format", *columns, "what it shows"], rows)
    load = record["load"]
    return (text + "\nImages/s of all ranks: median of the rounds (least to most, where there are several; share of the time that "
            f"devices wait for input). {rounds_text(record).capitalize()}, batches of {record['batch']}, storage `{record['storage']}`.\n\n" +
            gain_sentences(cells) +
            f"\nThe runs took {load['cores_used']:.2f} cores on average of {load['cores']} ({record['cpu']}); "
            f"load average {load['before']:.1f} before, {load['after']:.1f} after, that of others included.\n")


def svg(record):
    """Figure with two panels: a curve for each pipeline and format, and a dashed line for linear scaling."""
    cells = cells_of(record)
    models = list(dict.fromkeys(key[0] for key in cells))
    ranks = sorted({point["ranks"] for point in record["points"]})
    width, height, left, top, gap = 340, 250, 56, 40, 70
    total_width = left + len(models) * (width + gap)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_width} {height + top + 92}" '
           'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for panel, model in enumerate(models):
        rate = record["rates"][model]
        most = rate * max(ranks) * 1.05
        x0 = left + panel * (width + gap)

        def x(n):
            return x0 + width * n / max(ranks)

        def y(value):
            return top + height * (1 - value / most)

        out.append(f'<text x="{x0}" y="{top - 16}" font-size="14">{NAMES[model]}, device of {rate:g} images/s a rank '
                   '(emulated)</text>')
        out.append(f'<path d="M{x0} {top}V{top + height}H{x0 + width}" fill="none" stroke="#444"/>')
        for n in ranks:
            out.append(f'<text x="{x(n):.1f}" y="{top + height + 18}" text-anchor="middle">{n}</text>')
        for step in range(1, max(ranks) + 1):
            value = rate * step
            out.append(f'<text x="{x0 - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
            out.append(f'<path d="M{x0} {y(value):.1f}H{x0 + width}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 + width / 2}" y="{top + height + 36}" text-anchor="middle">ranks</text>')
        out.append(f'<path class="linear" d="M{x0} {y(0):.1f}L{x(max(ranks)):.1f} {y(rate * max(ranks)):.1f}" '
                   'stroke="#999" stroke-dasharray="5 4" fill="none"/>')
        for (pipeline, form), colour in COLOURS.items():
            by_ranks = cells[(model, pipeline, form)]
            points = " ".join(f"{x(n):.1f},{y(by_ranks[n]['images_per_s']):.1f}" for n in ranks)
            out.append(f'<polyline class="{pipeline} {form}" points="{points}" fill="none" stroke="{colour}" '
                       'stroke-width="2"/>')
            for n in ranks:
                cell = by_ranks[n]
                out.append(f'<path d="M{x(n):.1f} {y(cell["min"]):.1f}V{y(cell["max"]):.1f}" stroke="{colour}"/>')
                out.append(f'<circle cx="{x(n):.1f}" cy="{y(cell["images_per_s"]):.1f}" r="3" fill="{colour}"/>')
    for i, ((pipeline, form), colour) in enumerate(COLOURS.items()):
        at = left + i * 150
        out.append(f'<path d="M{at} {top + height + 62}h22" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{at + 28}" y="{top + height + 66}">{pipeline}, {FORMAT_NAMES[form]}</text>')
    out.append(f'<text x="{left}" y="{top + height + 86}" fill="#444">images/s of all ranks; median, least and most of '
               f'{rounds_text(record)}; storage emulated: {record["storage"]}; dashed: no device ever waits</text>')
    return "\n".join(out) + "\n</svg>\n"


def measure_point(options, model, pipeline, data, ranks, warmup):
    return bench(options.program, "scaling", ranks=ranks, model=model, batch=options.batch, image=options.image, threads=1,
                 channels=1, algorithms="direct", warmup=warmup, steps=options.steps, repeat=1, oversubscribe=True,
                 device=f"emulated:{options.rates[model]}", data=data, pipeline=pipeline, workers=options.workers,
                 emulate_storage=options.storage)


def measure(options):
    with tempfile.TemporaryDirectory(dir=options.work) as name:
        work = pathlib.Path(name)
        run([options.program, "synth", work / "raw", "--images", options.images, "--size", options.side, "--seed", 1])
        run([options.program, "convert", work / "raw", work / "tfrecord", "--to", "tfrecord"])
        record = {"rates": options.rates, "batch": options.batch, "storage": options.storage, "rounds": options.rounds,
                  "points": []}
        before, begin = os.getloadavg()[0], time.monotonic()
        for _ in range(options.rounds):
            for model in options.rates:
                for pipeline in PIPELINES:
                    for form in FORMATS:
                        for ranks, warmup in zip(options.ranks.split(","), options.warmup.split(",")):
                            result = measure_point(options, model, pipeline, work / form, ranks, warmup)
                            point = result["points"][0]
                            record["points"].append({"model": model, "pipeline": pipeline, "format": form,
                                                     **{key: point[key] for key in ("ranks", "images_per_s", "data_wait",
                                                                                    "comm_exposed", "imbalance", "kind")}})
                            print(json.dumps(record["points"][-1]), flush=True)
                        record["cpu"] = cpu_text(result)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        record["load"] = {"cores_used": (used.ru_utime + used.ru_stime) / (time.monotonic() - begin),
                          "cores": len(os.sched_getaffinity(0)), "before": before, "after": os.getloadavg()[0]}
        return record


def main():
    parser = parser_of(__doc__, ranks="1,2,4", images=64, batch=16, workers=1, storage="open=10ms,read=60ms", rounds=3)
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="JSON of an earlier run, instead of a run")
    parser.add_argument("--rates", default="resnet50=28,densenet121=36", help="images/s of a device alone")
    parser.add_argument("--side", type=int, default=256, help="of the images drawn, px")
    parser.add_argument("--image", type=int, default=64, help="side of what the network is fed, px")
    parser.add_argument("--warmup", default="6,6,6",
                        help="steps before those measured, by ranks: until batches that were made in advance are used up")
    parser.add_argument("--steps", type=int, default=4, help="whole epochs: a naive shuffle fills up anew in each")
    parser.add_argument("--work", type=pathlib.Path, help="where the temporary folder is made")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    options = parser.parse_args()
    options.rates = {name: float(rate) for name, rate in (word.split("=") for word in options.rates.split(","))}
    record = json.loads(options.source.read_text()) if options.source else measure(options)
    if options.svg:
        options.svg.write_text(svg(record))
    write(options, record, markdown(record))


if __name__ == "__main__":
    main()
