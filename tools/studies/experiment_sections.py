# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Sentences, table and chart of each of the sources' experiments. Every figure is read from the rows of a csv file."""
import sys
import typing

from study import NAMES, TOOLS, markdown_table

sys.path.insert(0, str(TOOLS))
from results_chart import bars, curves  # noqa: E402

MODELS = {**NAMES, "inception_v3": "Inception-v3", "inception_v4": "Inception-v4", "resnet18": "ResNet-18"}
PLACES = {"memory": "from memory", "slow": "from slow storage"}
# Short texts of faults for the cells of a table.
FAULTS = {"map-then-batch": "images are copied into batches", "one-map-thread": "images are copied, and one thread maps"}
CLEAR = 0.02  # share of a speed below which a difference is not named


class Section(typing.NamedTuple):
    """Part of the page about one experiment.

    published: what the source printed, in few words; source: the same as sentences
    ours:      its counterpart here, in few words
    found:     sentences about our figures; conclusion: one sentence
    """
    title: str
    published: str
    source: str
    ours: str
    found: list
    conclusion: str
    head: list
    table: list
    chart: str


class Rows:
    """Rows of one csv file."""

    def __init__(self, rows):
        self.rows = rows

    def all(self, metric=None, **settings):
        return [row for row in self.rows if (metric is None or row["metric"] == metric) and
                all(row[name] == str(value) for name, value in settings.items())]

    def one(self, metric, **settings):
        """The row with this metric and these settings, or None."""
        return next(iter(self.all(metric, **settings)), None)

    def labels(self, name, **settings):
        """Values of a setting, in the order of the file."""
        return list(dict.fromkeys(row[name] for row in self.all(**settings) if row[name]))

    def best(self, metric, **settings):
        return max(self.all(metric, **settings), key=lambda row: row["value"])


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def cell(row):
    """Median and range of a row, for a table."""
    if row is None:
        return "-"
    return number(row["value"]) + (f" ({number(row['low'])} to {number(row['high'])})" if row["rounds"] > 1 else "")


def share(row):
    """Median and range of a row as percentages, for a table."""
    return f"{row['value']:.0%}" + (f" ({row['low']:.0%} to {row['high']:.0%})" if row["rounds"] > 1 else "")


def counted(count, noun):
    return f"{count:.0f} {noun}{'' if count == 1 else 's'}"


def told(row):
    """Published value of a row, for a table."""
    if row is None or row["published"] == "":
        return "-"
    return number(row["published"]) + (f" to {number(row['published_high'])}" if row["published_high"] else "")


def spread(row):
    return f"({number(row['low'])} to {number(row['high'])} in {row['rounds']:.0f} rounds)" if row["rounds"] > 1 \
        else "(one round)"


def faster(row, subject, base):
    """Sentence about a ratio of speeds: what the rounds show and no more."""
    if row["rounds"] == 1:
        return f"{subject} runs at {number(row['value'])} times the speed of {base} (one round)."
    if row["low"] > 1 + CLEAR:
        return f"{subject} is {number(row['value'])} times as fast as {base} {spread(row)}."
    if row["high"] < 1 - CLEAR:
        return f"{subject} is {number(row['value'])} times as fast as {base} {spread(row)}, so slower."
    return f"{subject} is about as fast as {base}: {number(row['value'])} times {spread(row)}."


def device_text(name):
    if name.startswith("emulated:"):
        return f"emulated device, {name.split(':')[1]} images/s"
    base, _, rest = name.partition(",")
    return MODELS.get(base, base) + ("," + rest if rest else "")


def bar(row, label):
    return (label, row["value"], row["low"], row["high"], row["origin"], row["published"] or None)


def orders(rows):
    names = rows.labels("order")
    table, found, chart = [], [], []
    for device in rows.labels("device"):
        for storage in rows.labels("storage", device=device):
            cells = [rows.one("images_per_s", device=device, storage=storage, order=order) for order in names]
            ratio = rows.one("of_naive", device=device, storage=storage, order="default")
            table.append([device_text(device), PLACES[storage], *map(cell, cells), cell(ratio), ratio["origin"]])
            chart.append(bar(ratio, f"{device_text(device)}, {PLACES[storage]}"))
            waits = [rows.one("wait_share", device=device, storage=storage, order=order)["value"]
                     for order in ("naive", "default")]
            found.append(f"{device_text(device)}, images {PLACES[storage]}: the device waits {waits[0]:.0%} of the time "
                         f"with `naive`, {waits[1]:.0%} with `default`.")
    ten = rows.best("of_naive", order="tf-official")
    ratios = sorted(rows.all("of_naive", order="default"), key=lambda row: row["value"])
    ends = [f"{number(row['value'])} ({device_text(row['device'])}, {PLACES[row['storage']]})" for row in (ratios[0], ratios[-1])]
    found.append(f"{device_text(ten['device'])}, {PLACES[ten['storage']]}: " +
                 faster(ten, "`tf-official`", "`naive`"))
    return Section(
        "Order of the pipeline stages (S0, S1)", "flat with `naive`, speed-up with ten steps",
        "With the naive order of eight stages, GPUs waited for data. With the order of ten steps, 16 GPUs were 10.3 times as "
        "fast as one. The sources do not compare the speeds of the two orders.",
        f"`default` / `naive`: {number(ratios[0]['value'])} to {number(ratios[-1]['value'])}", found,
        f"`default` runs at {ends[0]} to {ends[1]} times the speed of `naive`.",
        ["device", "storage", *names, "default / naive", "origin"], table,
        bars("Speed of the order default / naive", chart, "x"))


def faults(rows):
    table, chart, worst = [], [], {}
    for order in rows.labels("order"):
        lost = {storage: rows.one("lost", storage=storage, order=order) for storage in rows.labels("storage")}
        if order != "tf-official":
            first = next(iter(lost.values()))
            table.append([f"`{order}`", FAULTS.get(order, first["fault"]), *map(share, lost.values())])
            for storage, row in lost.items():
                if first["fault"] != "none" and not order.startswith("naive"):
                    worst[storage] = max(worst.get(storage, row), row, key=lambda entry: entry["value"])
                speed = rows.one("images_per_s", storage=storage, order=order)
                chart.append(bar(speed, f"{order}, {PLACES[storage]}"))
    found = [f"With images {PLACES[storage]}, the costliest single fault is `{row['order']}`: it costs {row['value']:.0%} "
             "of the speed."
             for storage, row in worst.items()]
    storage, row = max(worst.items(), key=lambda item: item[1]["value"])
    naive = rows.one("lost", storage=storage, order="naive-one-thread")
    return Section(
        "Faults of the naive order (S1)", "three faults named, no figures",
        "S1 names three faults of the naive order: no second prefetch, no bulk elements in preprocessing, no parallel "
        "interleave. It prints no figure for each. Here, each single fault is added to `tf-official`. Losses are relative "
        "to the speed of `tf-official` without faults; a negative loss is a gain.",
        f"costliest: `{row['order']}`, {row['value']:.0%} lost", found,
        f"With images {PLACES[storage]}, the fault `{row['order']}` costs most. All faults together cost {naive['value']:.0%} "
        "of the speed.",
        ["order", "fault", *(f"speed lost, {PLACES[name]}" for name in rows.labels("storage"))], table,
        bars("Speed with each fault", chart, "images/s"))


def overlap(rows):
    table, chart, found = [], [], []
    for device in rows.labels("device"):
        times = [rows.one(f"{name}_ms", device=device) for name in ("input", "train", "sequential", "overlapped")]
        least = rows.one("of_least", device=device)
        table.append([device_text(device), least["cores"], *map(cell, times), cell(least), least["origin"]])
        chart.append(bar(rows.one("gain", device=device), device_text(device)))
        found.append(f"{device_text(device)}: an overlapped step takes {number(least['value'])} times the least possible "
                     f"time {spread(least)}.")
    gain, least = rows.best("gain"), [row["value"] for row in rows.all("of_least")]
    return Section(
        "Overlap of input and training (S0, S1)", "step takes the longer of both",
        "While a step trains, the CPU prepares the next batch. A step then takes the longer of both times, not their sum.",
        f"overlapped: up to {number(gain['value'])} times as fast", found,
        f"An overlapped step takes {number(min(least))} to {number(max(least))} times the least possible time.",
        ["device", "cores", "input, ms", "training, ms", "sequential, ms", "overlapped, ms", "overlapped / least", "origin"],
        table, bars("Speed of overlapped / sequential steps", chart, "x"))


def ranks(rows):
    counts = rows.labels("ranks")
    table, series, found = [], {}, []
    for model in rows.labels("model"):
        for order in rows.labels("order", model=model):
            for form in rows.labels("format", model=model, order=order):
                cells = {count: rows.one("images_per_s", model=model, order=order, ranks=count, format=form)
                         for count in counts}
                gain = rows.one("records_of_files", model=model, order=order, ranks=counts[-1], format=form)
                table.append([MODELS[model], order, form, *map(cell, cells.values()), cell(gain), told(gain)])
                by_count = {int(count): row["value"] for count, row in cells.items() if row}
                if len(by_count) > 1:
                    series[f"{order}, {form}"] = ("emulated", by_count)
    first = rows.labels("model")[0]
    for order in rows.labels("order", model=first):
        row = rows.one("speedup", model=first, order=order, ranks=counts[-1], format="tfrecord")
        found.append(f"{MODELS[first]}, `{order}`: {counts[-1]} ranks are {number(row['value'])} times as fast as one "
                     f"{spread(row)}.")
    gains = rows.all("records_of_files", ranks=counts[-1])
    low, high = min(gains, key=lambda row: row["value"]), max(gains, key=lambda row: row["value"])
    return Section(
        "Files and TFRecords by ranks (S0, S1)", "TFRecord gains 8.39% and 13.1%",
        "On 4 GPUs, TFRecord files gained at most 8.39% with ResNet-50 and 13.1% with DenseNet-121. S1 concludes that a "
        "conversion is not always necessary.",
        f"TFRecord / files: {number(low['value'])} to {number(high['value'])}", found,
        f"On {counts[-1]} ranks, training from TFRecord files runs at {number(low['value'])} (`{low['order']}`) to "
        f"{number(high['value'])} times (`{high['order']}`) the speed of training from single files.",
        ["network", "order", "format", *(f"{count} rank{'s' if count != '1' else ''}" for count in counts),
         f"TFRecord / files, {counts[-1]} ranks", "published"], table,
        curves(f"Images/s by number of ranks, {MODELS[first]}", series, ("ranks", "images/s")))


def convert(rows):
    changes = rows.labels("changes")
    table, chart, forms = [], [], []
    for row in rows.all("of_files", pages="cold"):
        if row["format"] == "files":
            continue
        where = {"format": row["format"], "size": row["size"]}
        warm = rows.one("of_files", pages="warm", **where)
        least = [rows.one("least_trainings", pages="cold", changes=change, **where) for change in changes]
        table.append([row["format"], row["size"], cell(warm), cell(row), told(row),
                      *(f"{entry['value']:.0f}" if entry else "never" for entry in least)])
        chart.append(bar(row, f"{row['format']}, {row['size']}"))
        forms.append((row, least))
    keep = rows.one("of_files", pages="cold", format="tfrecord keep")
    fast, pays = max(forms, key=lambda form: form[0]["value"])
    found = [faster(keep, "TFRecord with unchanged images, from disk,", "the image files"),
             f"From disk, {fast['format']} of {fast['size']} is the fastest: {number(fast['value'])} times as fast as the "
             f"image files {spread(fast)}.",
             "*Trainings to pay* is the number of trainings after which a conversion has saved time. It assumes that every "
             "training reads from disk and always waits for its input. After each change of the data, they are converted again.",
             "*Never* means that in some round the format was read no faster than the image files."]
    counts = [f"{counted(entry['value'], 'training')} ({entry['changes']} changes)" for entry in pays if entry]
    return Section(
        "When to convert (S1)", "records gain 8 to 15%",
        "TFRecord files gained 8 to 15%. Whether a conversion pays depends on how often the data change and how often a model "
        "is trained.", f"TFRecord, same bytes: {number(keep['value'])}", found,
        f"Converting to the fastest format pays from {', '.join(counts)} on. Each training has 50 epochs."
        if counts else "Converting to the fastest format never pays.",
        ["format", "size", "/ files, memory", "/ files, disk", "published",
         *(f"trainings to pay, {change} changes" for change in changes)], table,
        bars("Speed of each format / files, from disk", chart, "x"))


def folders(rows):
    table, chart = [], []
    for pages in rows.labels("pages"):
        for folder in rows.labels("folder"):
            speed = rows.one("images_per_s", pages=pages, folder=folder)
            ratio = rows.one("of_disk", pages=pages, folder=folder)
            table.append([folder, speed["file_system"], pages, cell(speed), cell(ratio), speed["origin"]])
            chart.append(bar(speed, f"{folder}, {pages}"))
    found = [faster(rows.one("of_disk", pages=pages, folder="memory"), f"With a {pages} page cache, memory", "the disk")
             for pages in rows.labels("pages")]
    cold = rows.one("of_disk", pages="cold", folder="memory")
    return Section(
        "Several storage folders (S4)", "storage systems compared, no figures here",
        "S4 compares training on several storage systems. It clears all caches before a run.",
        f"memory / cold disk: {number(cold['value'])}", found,
        faster(cold, "With an empty page cache, memory", "the disk"),
        ["folder", "file system", "page cache", "images/s", "/ disk", "origin"], table,
        bars("Images/s of the input pipeline by folder", chart, "images/s"))


def steps(rows, setting):
    """Table and bars of training steps with and without fusions. setting: column that differs beside `fuse`."""
    table, chart = [], []
    for value in rows.labels(setting):
        at = {setting: value, "fuse": "on"}
        gain, off, on = (rows.one("of_off", **at), rows.one("images_per_s", **{**at, "fuse": "off"}),
                         rows.one("images_per_s", **at))
        memory = rows.one("memory_of_off", **at)
        table.append([MODELS[gain["model"]], gain["batch"], gain["image_px"], cell(off), cell(on), cell(gain), told(gain),
                      *([number(memory["value"])] if memory else []), gain["origin"]])
        chart.append(bar(gain, f"{MODELS[gain['model']]}, batch {gain['batch']}"))
    return table, chart


STEP_HEAD = ["network", "batch", "px", "off, images/s", "on, images/s", "on / off", "published"]


def fusion(rows):
    table, chart = steps(rows, "model")
    gains = rows.all("of_off")
    found = [faster(row, f"{MODELS[row['model']]} with fusions", "the network without fusions") for row in gains]
    low, high = min(gains, key=lambda row: row["value"]), max(gains, key=lambda row: row["value"])
    clear = [MODELS[row["model"]] for row in gains if row["rounds"] > 1 and row["low"] > 1 + CLEAR]
    least = min(rows.all("memory_of_off"), key=lambda row: row["value"])
    return Section(
        "Fusion off and on (S2)", "XLA: 1.35 to 1.43",
        "XLA made ResNet-50, Inception-v3 and Inception-v4 1.35 to 1.43 times as fast on V100 cards. XLA compiles a graph that "
        "otherwise runs op by op.", f"on / off: {number(low['value'])} to {number(high['value'])}", found,
        f"Fusions clearly speed up {', '.join(clear) or 'none of the networks'} on this CPU. With fusions, "
        f"activations of {MODELS[least['model']]} take {number(least['value'])} times the memory.",
        [*STEP_HEAD, "activations, on / off", "origin"], table, bars("Speed with fusions / without", chart, "x"))


def batch(rows):
    table, chart = steps(rows, "batch")
    larger = rows.one("of_smaller_batch", fuse="on")
    gains = rows.all("of_off")
    found = [faster(row, f"Training with fusions and batch {row['batch']}", "training without fusions") for row in gains]
    sizes = rows.labels("batch")
    return Section(
        "Batch 128 and 256 (S2)", "XLA: 1.35 and 1.46",
        "On 8 V100 cards, XLA made ResNet-50 1.35 times as fast with batch 128, and 1.46 times with batch 256.",
        f"batch {sizes[-1]} / {sizes[0]}: {number(larger['value'])}", found,
        faster(larger, f"With fusions, batch {sizes[-1]}", f"batch {sizes[0]}"),
        [*STEP_HEAD, "origin"], table, bars("Speed with fusions / without, by batch", chart, "x"))


def processes(rows):
    table, chart, found = [], [], []
    most = rows.labels("processes")[-1]
    for model in rows.labels("model"):
        for count in rows.labels("processes", model=model):
            speed, ratio = (rows.one(metric, model=model, processes=count) for metric in ("images_per_s", "of_one"))
            table.append([MODELS[model], count, speed["threads"], cell(speed), cell(ratio), speed["origin"]])
            chart.append(bar(speed, f"{MODELS[model]}, {count} x {speed['threads']} threads"))
    ends = rows.all("of_one", processes=most)
    found = [faster(row, f"{MODELS[row['model']]} in {most} processes", "one process") for row in ends]
    speeds = [f"{number(row['value'])} ({MODELS[row['model']]})" for row in ends]
    return Section(
        "Processes per node (S3)", "two per node are best",
        "On nodes with two sockets, two processes per node were fastest. S3 prints no figure for other numbers.",
        f"{most} / 1 processes: {' and '.join(number(row['value']) for row in ends)}", found,
        f"On this node, {most} processes run at {' and '.join(speeds)} times the speed of one process.",
        ["network", "processes", "threads of each", "images/s", "/ one process", "origin"], table,
        bars("Images/s by processes on the same cores", chart, "images/s"))


def hosts(rows):
    table, series, found, gaps = [], {}, [], []
    for cluster in rows.labels("cluster"):
        for origin in rows.labels("origin", cluster=cluster):
            efficiencies = rows.all("efficiency", cluster=cluster, origin=origin)
            series[cluster if origin == "predicted" else f"{cluster} (run)"] = (
                origin, {int(row["devices"]): row["value"] for row in efficiencies})
            for row in efficiencies:
                is_end = row in (efficiencies[0], efficiencies[-1])
                if is_end or row["published"] != "" or origin != "predicted":
                    speed = rows.one("images_per_s", cluster=cluster, origin=origin, devices=row["devices"])
                    table.append([cluster, row["devices"], cell(speed), told(speed), cell(row), told(row), origin])
        known = [row for row in rows.all("efficiency", cluster=cluster) if row["published"] != ""]
        if known:
            series[f"{cluster} (source)"] = ("published", {int(row["devices"]): row["published"] for row in known})
            row = max(known, key=lambda entry: int(entry["devices"]))
            gaps.append(row)
            found.append(f"{cluster}, {row['devices']} devices: predicted efficiency {number(row['value'])}, published "
                         f"{number(row['published'])}.")
    for row in rows.all("of_predicted"):
        found.append(f"{row['devices']} emulated hosts reach {number(row['value'])} of the predicted speed {spread(row)}.")
    worst = max(gaps, key=lambda row: row["value"] - row["published"])
    best = min(gaps, key=lambda row: row["value"] - row["published"])
    return Section(
        "Speed on more devices (S0, S2, S3)", "efficiency 0.61 to 0.89 with most devices",
        "S0 reached 10.3 times the speed of one GPU with 16 GPUs. S3 reached 38.9 times with 64 GPUs, and an efficiency of "
        "about 89% on 448 nodes.",
        f"predicted too high by up to {number(worst['value'] - worst['published'])}", found,
        "The prediction includes only communication and slow ranks. It exceeds the published efficiency by "
        f"{number(best['value'] - best['published'])} ({best['cluster']}) to {number(worst['value'] - worst['published'])} "
        f"({worst['cluster']}).",
        ["cluster", "devices", "images/s", "published", "efficiency", "published efficiency", "origin"], table,
        curves("Efficiency by number of devices", series, ("devices", "efficiency")))


SECTIONS = {function.__name__: function
            for function in (orders, faults, overlap, ranks, convert, folders, fusion, batch, processes, hosts)}
