# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Figures of the sources' experiments: runs in interleaved rounds, ratios within a round, rows of csv files."""
import csv
import datetime
import json
import os
import pathlib
import resource
import shlex
import statistics
import tempfile
import time
import typing

from study import interleaved, run, words_of

ORIGINS = ("measured", "emulated", "predicted")
# Columns after `experiment` and the settings of an experiment.
COLUMNS = ("metric", "value", "low", "high", "unit", "rounds", "origin", "published", "published_high",
           "published_hardware", "sizes", "hardware", "other_cores", "commit", "date", "command")
UNITS = {
    "images_per_s": "images/s", "wait_share": "share", "lost": "share", "efficiency": "share", "convert_s": "s",
    "input_ms": "ms", "train_ms": "ms", "sequential_ms": "ms", "overlapped_ms": "ms", "break_even_epochs": "epochs",
    "least_trainings": "trainings", "activations_mib": "MiB", "ratio": "ratio", "speedup": "ratio",
}


class Published(typing.NamedTuple):
    """Value that a source printed, or a range of values, and the hardware of the source."""
    value: float
    hardware: str
    high: float | None = None


class Arm(typing.NamedTuple):
    """Command of an experiment, run once in every round.

    settings: setting columns of its figures, name -> value
    words:    command line without the program, such as ["bench", "step", "--model", "resnet50"]
    read:     function of the command's JSON; returns [(more settings, {metric: value})]
    origin:   one of ORIGINS
    prefix:   words before the program, such as a script that emulates hosts
    before:   function called before the run
    """
    settings: dict
    words: list
    read: typing.Callable
    origin: str
    prefix: tuple = ()
    before: typing.Callable = lambda: None


def case(name, **settings):
    """Words of `roentgen bench NAME` with these options."""
    return ["bench", name, *map(str, words_of(settings))]


def cpu_seconds():
    """CPU time of the whole machine, and of this process with its children that have ended."""
    fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").split()[1:8]  # user nice system idle iowait irq softirq
    busy = (sum(map(int, fields)) - int(fields[3]) - int(fields[4])) / os.sysconf("SC_CLK_TCK")
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return busy, sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Figures:
    """Values of every round by settings and metric. One thread.

    The column `other_cores` is the mean number of cores that other programs used since the figures were made.
    """

    def __init__(self, program, sizes):
        self.program, self.sizes = program, sizes
        self.begin, self.cpu_begin = time.monotonic(), cpu_seconds()
        self.values = {}  # tuple of settings -> {metric: values of the rounds}
        self.notes = {}  # tuple of settings -> columns of the run: origin, hardware, commit, command

    def run(self, arms, rounds, progress=lambda text: None):
        """Runs all arms in interleaved rounds and adds their figures."""
        for index, arm in interleaved(arms, rounds):
            progress(f"round {index + 1}: {' '.join(map(str, arm.settings.values()))}")
            arm.before()
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "result.json"
                run([*arm.prefix, self.program, *arm.words, "--json", path])
                result = json.loads(path.read_text(encoding="utf-8"))
            hardware = f"{result['cpu']['model']}, {len(os.sched_getaffinity(0))} cores"
            note = {"origin": arm.origin, "hardware": hardware, "commit": result["program"]["commit"],
                    "command": shlex.join(["tools/" + pathlib.Path(word).name if index == 0 else str(word)
                                           for index, word in enumerate(arm.prefix)] + ["roentgen", *arm.words])}
            for more, metrics in arm.read(result):
                self.add({**arm.settings, **more}, metrics, note)
        return self

    def add(self, settings, metrics, note):
        """Adds the figures of a round. A value that is None is left out."""
        key = tuple(settings.items())
        self.notes.setdefault(key, note)
        for metric, value in metrics.items():
            if value is not None:
                self.values.setdefault(key, {}).setdefault(metric, []).append(value)

    def ratios(self, name, metric, base_of, inverse=False):
        """Adds the metric `name`: within each round, the metric divided by that of the settings base_of(settings), or the
        inverse. Settings whose base is None or was not run get no ratio."""
        for key, metrics in list(self.values.items()):
            base = base_of(dict(key))
            other = self.values.get(tuple(base.items()), {}).get(metric) if base else None
            if other and metric in metrics:
                pairs = zip(metrics[metric], other, strict=True)
                metrics[name] = [b / a if inverse else a / b for a, b in pairs]

    def rows(self, experiment, published=lambda settings, metric: None):
        """Rows of the csv file. value: median of the rounds; low, high: least and most of them."""
        today, rows = datetime.date.today().isoformat(), []
        busy, own = (after - before for after, before in zip(cpu_seconds(), self.cpu_begin, strict=True))
        others = round(max(0.0, busy - own) / max(time.monotonic() - self.begin, 1e-3), 2)
        for key, metrics in self.values.items():
            for metric, values in metrics.items():
                told = published(dict(key), metric)
                rows.append({
                    "experiment": experiment, **dict(key), "metric": metric, "value": number(statistics.median(values)),
                    "low": number(min(values)), "high": number(max(values)), "unit": UNITS.get(metric, "ratio"),
                    "rounds": len(values), "published": told.value if told else "",
                    "published_high": told.high if told and told.high else "",
                    "published_hardware": told.hardware if told else "", "sizes": self.sizes, "other_cores": others,
                    "date": today,
                    **self.notes[key]})
        return rows


def number(value):
    """Value with five significant digits."""
    return float(f"{value:.5g}")


def write_csv(path, rows):
    """Writes the rows; setting columns follow `experiment` in the order in which they appear."""
    settings = list(dict.fromkeys(name for row in rows for name in row if name not in COLUMNS))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*settings, *COLUMNS], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path):
    """Rows of a csv file, with numbers where the column holds numbers."""
    numbers = ("value", "low", "high", "rounds", "published", "published_high")
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: float(text) if name in numbers and text else text for name, text in row.items()}
                for row in csv.DictReader(file)]
