#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""The experiment of naive against optimised input pipelines on one machine, as JSON and as tables in Markdown.

  tools/studies/pipeline.py --data ../shared/data/nih/png --json pipeline.json --markdown pipeline.md     # 40 minutes
  tools/studies/pipeline.py --from pipeline.json --markdown pipeline.md                                   # again, no run

Copies NIH's originals (tools/nih_originals.py) into a temporary folder and runs there, each after the other:
  experiment  orders x files and records x networks and emulated accelerators x warm, cold and slow storage: `bench overlap`
              for each cell, in interleaved rounds
  formats     files against every form that `roentgen convert` writes
  ablation    each fault of the naive order on its own, as one of two ranks: warm, and on slow storage
  overlap     a network on shared cores, the same with input on a core of its own, an emulated accelerator
The folder needs about 1 MB an image, --copies x 59 images, and 5 MB an image of the formats (--format-copies).
"""
import json
import os
import pathlib
import statistics
import sys
import tempfile

from study import NAMES, TOOLS, bench, cpu_text, interleaved, markdown_table, parser_of, run, write

sys.path.insert(0, str(TOOLS))
from nih_originals import copy_originals  # noqa: E402

PLACES = {"warm": "from memory", "cold": "from disk", "slow": "from slow storage (emulated)"}
FULL = 0.95  # share of the device's throughput alone
# The presets with the same threads and buffers. Files that tf-official reads at once are the most that any order may read.
ORDERS = {
    "default": "samples | shuffle | shard | repeat | map_and_batch({workers}) | prefetch",
    "tf-official": "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | "
                   "repeat | map_and_batch({workers}) | prefetch(1)",
    "naive": "files | interleave | map({workers}) | shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)",
}
READERS = 10
MANY_STEPS = 100_000  # so many that the time limit ends a measurement


def device_name(device):
    if device.startswith("emulated:"):
        return f"an accelerator of {float(device.split(':')[1]):,.0f} images/s (emulated)"
    return f"a {NAMES.get(device, device)} step"


def cell_sentence(cell):
    """Sentence about one cell of the experiment."""
    where = f"{cell['order']} on {cell['format']} {PLACES[cell['storage']]}"
    device = device_name(cell["device"])
    if cell["bound"] == "input":
        return (f"{where} leaves {device} waiting {cell['wait_share']:.0%} of the time: "
                f"{cell['of_device']:.0%} of its rate alone.")
    if cell["of_device"] >= FULL:
        return f"{where} keeps {device} busy: {cell['of_device']:.0%} of its rate alone."
    return (f"{where} never lets {device} wait, but takes its cores: {cell['of_device']:.0%} of its rate alone.")


def row_sentence(cells):
    """Sentence about all orders with one device, storage and format. `cells`: by order."""
    default, naive = cells["default"], cells["naive"]
    if default["bound"] == naive["bound"] == "compute":
        return "waits in neither order"
    gain = default["of_naive"]
    if gain >= 1.05:
        return f"the order gains {gain:.2f}x"
    if gain <= 0.95:
        return f"the naive order is {1 / gain:.2f}x as fast"
    return "decoding or storage is the limit in every order"


def rows_of(experiment):
    """Cells by order for each (device, storage, format), in the order of the measurement."""
    rows = {}
    for cell in experiment["cells"]:
        rows.setdefault((cell["device"], cell["storage"], cell["format"]), {})[cell["order"]] = cell
    return rows


def experiment_markdown(experiment):
    text = "| alone | images/s |\n|---|---|\n"
    for device in experiment["devices"]:
        text += f"| {device_name(device['device'])} | {device['images_per_s']:,.1f} |\n"
    orders = [pipeline["order"] for pipeline in experiment["pipelines"]]
    rows = []
    for (device, storage, form), cells in rows_of(experiment).items():
        figures = [f"{cells[o]['images_per_s']:,.1f} ({cells[o]['of_device']:.0%}, {cells[o]['bound']})" for o in orders]
        rows.append([device_name(device), PLACES[storage], form, *figures, row_sentence(cells)])
    text += "\n" + markdown_table(["device", "storage", "format", *orders, "what it shows"], rows)
    return text + "\nImages/s, the share of what the device takes alone, and what bound it.\n"


def against_records_markdown(experiment):
    """Compares files with records of the same bytes, in the default order."""
    rows = rows_of(experiment)
    lines = []
    for (device, storage, form), cells in rows.items():
        if form != "files":
            continue
        files, records = cells["default"], rows[(device, storage, "tfrecord")]["default"]
        ratio = records["images_per_s"] / files["images_per_s"]
        lines.append([device_name(device), PLACES[storage], f"{files['images_per_s']:,.1f}",
                      f"{records['images_per_s']:,.1f}", f"{ratio:.3f}"])
    return markdown_table(["device", "storage", "files", "TFRecord", "TFRecord / files"], lines)


def formats_markdown(formats):
    def epochs(bounds):
        if bounds is None:
            return "no gain shown"
        low, high = ("never" if end is None else f"{end:.1f}" for end in bounds)
        return low if low == high else f"{low} to {high}"

    rows = []
    for row in formats["formats"]:
        is_files = row["form"] == "files"
        rows.append([row["form"], row["size"], f"{row['bytes_per_image'] / 1024:,.0f}",
                     f"{row['warm_images_per_s']:,.0f} ({row['warm_of_files']:.2f})",
                     f"{row['cold_images_per_s']:,.0f} ({row['cold_of_files']:.2f})",
                     "" if is_files else f"{row['convert_s']:.1f}",
                     "" if is_files else f"{epochs(row['warm_break_even_epochs'])}, "
                                         f"{epochs(row['cold_break_even_epochs'])}"])
    return markdown_table(["form", "size", "KiB an image", "warm, images/s (of files)", "cold, images/s (of files)",
                           "converting, s", "break-even, epochs warm, cold"], rows)


def ablation_markdown(ablation):
    rows = [[row["order"], row["fault"] or "none", f"{row['images_per_s']:,.1f}", f"{row['of_base']:.2f}",
             f"{row['lost']:.0%}"] for row in ablation["orders"]]
    title = f"Storage: {ablation['storage'] + ' (emulated)' if ablation['storage'] else 'warm'}.\n\n"
    return title + markdown_table(["order", "fault", "images/s", f"of {ablation['base']}", "lost"], rows)


def overlap_markdown(overlaps):
    rows = []
    for run in overlaps:
        limit = next(row for row in run["limits"] if row["cores"] == run["cores"])
        times = run["step_ms"]
        rows.append([device_name(run["consumer"]), f"{run['cores']}" + (f", input on {run['input_cores']}" if
                                                                         run["input_cores"] else ""),
                     *(f"{times[key]:.1f}" for key in ("input", "train", "sequential", "overlapped")),
                     f"{run['gain']:.2f}x", f"{limit['least']} = {limit['least_ms']:.1f}",
                     f"{limit['ratio']:.3f} ({'within' if limit['holds'] else 'above'} {limit['allowed']})"])
    return markdown_table(["device", "cores", "input, ms", "train, ms", "sequential, ms", "overlapped, ms", "gain",
                           "least, ms", "overlapped / least"], rows)


def markdown(record):
    parts = [f"Machine: {record['cpu']}. Images: {record['images']} files of NIH's originals, {record['copies']} of each.\n"]
    for title, key, render in (("Orders and formats", "experiment", experiment_markdown),
                               ("Files against records of the same bytes", "experiment", against_records_markdown),
                               ("Formats", "formats", formats_markdown), ("Overlap", "overlap", overlap_markdown)):
        if key in record:
            parts.append(f"## {title}\n\n{render(record[key])}")
    if "ablation" in record:
        parts.append("## Faults of the naive order\n\n" + "\n".join(map(ablation_markdown, record["ablation"])))
    return "\n".join(parts)


def orders_of(options, images):
    """Pipeline stages of each order. The shuffle buffer has 500 elements, or an eighth of the images for small data
    sets."""
    buffer = min(max(images // 8, 1), 500)
    return {name: text.format(workers=options.workers, batch=options.batch, buffer=buffer) for name, text in ORDERS.items()}


def make_records(options, images, target):
    """Converts the images to several TFRecord files with the same bytes."""
    names = sorted(path.name for path in images.glob("*.png"))
    table = images / "labels.csv"  # records need labels
    table.write_text("path,shadow\n" + "".join(f"{name},0\n" for name in names))
    shards = min(max(len(names) // 32, 1), 64)
    run([options.program, "convert", images, target, "--to", "tfrecord", "--shards", shards, "--workers", options.workers,
         "--set", "data.labels=shadow", "--set", "data.split_unit=image", "--set", "data.validation=none"])
    table.unlink()


def read_once(folder):
    """Reads a folder's files into the page cache."""
    for path in folder.iterdir():
        path.read_bytes()


def run_cell(options, device, storage, folder, stages):
    """One measurement of a cell."""
    if storage != "cold":
        read_once(folder)
    is_emulated = device.startswith("emulated:")
    result = bench(options.program, "overlap", data=folder, image=options.image, workers=options.workers, rounds=1,
                   batch=options.batch, pipeline=stages, readers=READERS, steps=MANY_STEPS,
                   cell_seconds=options.cell_seconds, cold=storage == "cold",
                   emulate_storage=options.storage if storage == "slow" else None,
                   device=device if is_emulated else None, model=None if is_emulated else device)
    alone = 1e3 * options.batch / result["step_ms"]["train"]
    return {"images_per_s": result["images_per_s"], "alone": alone, "of_device": result["images_per_s"] / alone,
            "wait_share": result["wait_share"], "bound": result["bound"], "steps": result["n"],
            "emulated": result["emulated"], "cpu": cpu_text(result)}


def summary(device, runs):
    """Rows of a device: medians over the rounds. `runs`: {(storage, format, order): a run for each round}."""
    rows = []
    for (storage, form, order), rounds in runs.items():
        naive = runs[storage, form, "naive"]
        medians = {key: statistics.median(entry[key] for entry in rounds)
                   for key in ("images_per_s", "of_device", "wait_share")}
        gain = statistics.median(a["images_per_s"] / b["images_per_s"] for a, b in zip(rounds, naive))
        row = {"device": device, "storage": storage, "format": form, "order": order, **medians, "of_naive": gain,
               **{key: rounds[-1][key] for key in ("bound", "steps", "emulated")}}
        rows.append({**row, "sentence": cell_sentence(row)})
    return rows


def experiment(options, folders, images):
    """All cells, device after device, in interleaved rounds. `folders`: by format."""
    orders = orders_of(options, images)
    arms = [(storage, form, order) for storage in PLACES for form in folders for order in orders]
    devices = [*options.models.split(","), *(f"emulated:{rate}" for rate in options.rates.split(","))]
    record = {"devices": [], "cells": [],
              "pipelines": [{"order": name, "stages": stages} for name, stages in orders.items()]}
    for device in (device for device in devices if device not in ("none", "emulated:none")):
        runs = {arm: [] for arm in arms}
        for index, (storage, form, order) in interleaved(arms, options.experiment_rounds):
            runs[storage, form, order].append(run_cell(options, device, storage, folders[form], orders[order]))
            print(f"round {index + 1}: {device}, {storage}, {form}, {order}", file=sys.stderr, flush=True)
        alone = statistics.median(entry["alone"] for rounds in runs.values() for entry in rounds)
        record["devices"].append({"device": device, "emulated": device.startswith("emulated:"), "images_per_s": alone})
        record["cells"] += summary(device, runs)
        record["cpu"] = next(iter(runs.values()))[0]["cpu"]
    return record


def measure(options):
    def case(name, folder, **settings):
        print(f"{name} {settings}", file=sys.stderr, flush=True)
        result = bench(options.program, name, data=folder, image=options.image, workers=options.workers,
                       batch=options.batch, **settings)
        return {**result, "cpu": cpu_text(result)}

    with tempfile.TemporaryDirectory(dir=options.work) as name:
        work = pathlib.Path(name)
        many, few = work / "images", work / "few"
        images = copy_originals(options.data, many, options.copies)
        copy_originals(options.data, few, options.format_copies)
        record = {"images": images, "copies": options.copies}
        if "experiment" in options.parts:
            make_records(options, many, work / "tfrecord")
            record["experiment"] = experiment(options, {"files": many, "tfrecord": work / "tfrecord"}, images)
        if "formats" in options.parts:
            record["formats"] = case("formats", few, rounds=options.rounds, cell_seconds=options.form_seconds, work=work,
                                     resize=256)
        if "ablation" in options.parts:
            record["ablation"] = [case("ablation", many, rounds=options.rounds, steps=options.steps, emulate_storage=slow)
                                  for slow in (None, options.storage)]
        if "overlap" in options.parts:
            cores = sorted(os.sched_getaffinity(0))
            model = {"model": options.overlap_model, "steps": options.train_steps}
            kinds = [model, *([{**model, "input_cores": cores[0]}] if len(cores) > 1 else []),
                     {"device": f"emulated:{options.overlap_rate}", "steps": options.steps}]
            record["overlap"] = [case("overlap", many, rounds=options.overlap_rounds, **kind) for kind in kinds]
        part = record[options.parts[0]]
        record["cpu"] = (part[0] if isinstance(part, list) else part)["cpu"]
        return record


def main():
    parser = parser_of(__doc__, parts="experiment,formats,ablation,overlap", copies=12, format_copies=3,
                       overlap_model="resnet50", overlap_rate=300.0, storage="open=2ms,read=1ms,opens_per_s=1000",
                       batch=16, image=224, workers=len(os.sched_getaffinity(0)), rounds=3, experiment_rounds=1,
                       overlap_rounds=2, cell_seconds=1.5, form_seconds=1.0, steps=20, train_steps=4)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/nih/png"))
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="JSON of an earlier run, instead of a run")
    parser.add_argument("--work", type=pathlib.Path, help="where the temporary folder is made")
    parser.add_argument("--models", default="resnet50,densenet121", help="with commas, or none")
    parser.add_argument("--rates", default="200,1000,5000", help="emulated accelerators, images/s, or none")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    record = json.loads(options.source.read_text()) if options.source else measure(options)
    write(options, record, markdown(record))


if __name__ == "__main__":
    main()
