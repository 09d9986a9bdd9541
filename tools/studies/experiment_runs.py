# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Commands of the sources' experiments. Each function of EXPERIMENTS runs one and returns the rows of its csv file.

The functions run in a work folder with `images`, `few`, `tfrecord`, `films` and `film_records` (prepare()).
"""
import math
import os
import pathlib
import shutil
import sys
import tempfile
import typing

from study import TOOLS, run
from experiment_figures import Arm, Figures, Published, case

sys.path.insert(0, str(TOOLS))
from nih_originals import copy_originals  # noqa: E402

V100 = "V100, C4140 servers, InfiniBand EDR"
S2_V100 = "8 V100 of two C4140 servers"
S2_CARDS = "V100-SXM2-16GB, C4140 servers"
GTX = "GTX 1080 Ti"
XEON = "448 nodes of two Xeon 8160"
# The presets with the same threads and buffers. Files that tf-official reads at once are the most that any order may read.
ORDERS = {
    "naive": "files | interleave | map({workers}) | shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)",
    "tf-official": "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | "
                   "repeat | map_and_batch({workers}) | prefetch(1)",
    "default": "samples | shuffle | shard | repeat | map_and_batch({workers}) | prefetch",
}
READERS = 10
MANY_STEPS = 100_000  # so many that the time limit ends a measurement
# Clusters of the predicted runs: model, options of `doctor scale`, published images/s by devices, hardware. S2 published
# speed-ups alone; its images/s of one device is NVIDIA's for TensorFlow with XLA.
CLUSTERS = {
    "S0": ("densenet121", {"batch": 64, "device": "emulated:185.12", "per_host": 4, "bandwidth": "11GB", "latency": "5us"},
           {1: 185.12, 4: 589.36, 8: 1116.99, 12: 1527.60, 16: 1912.82}, V100),
    "S2": ("resnet50", {"batch": 128, "device": "emulated:1270", "per_host": 4, "bandwidth": "11GB", "latency": "5us"},
           {1: 1.0, 4: 3.9, 8: 6.9}, S2_V100),
    "S3, table 8": ("resnet50", {"batch": 64, "device": "emulated:182", "per_host": 4, "bandwidth": "40Gbit",
                                 "latency": "30us"},
                    {1: 182, 4: 705, 8: 1402, 16: 2680, 32: 5120, 64: 7080}, GTX),
    "S3, 6.2": ("resnet50", {"batch": 16, "device": "emulated:40", "per_host": 2, "bandwidth": "11GB", "latency": "2us"},
                {1: 40, 896: 31808}, XEON),
}


class Sizes(typing.NamedTuple):
    """Amounts of work. FULL takes under 20 minutes on two idle cores, QUICK 3 minutes."""
    name: str
    rounds: int
    copies: int  # of the images
    cell_s: float  # time limit of a measurement of `overlap` and `formats`
    steps: int  # of input pipelines
    train_steps: int  # of networks
    ranks: tuple
    rank_warmup: int  # steps of `ranks` until batches that were made in advance are used up
    scale: float  # of image sides and batches of networks


FULL = Sizes("full", rounds=3, copies=8, cell_s=0.7, steps=12, train_steps=3, ranks=(1, 2, 4), rank_warmup=6, scale=1.0)
QUICK = Sizes("quick", rounds=1, copies=1, cell_s=0.1, steps=2, train_steps=1, ranks=(1, 2), rank_warmup=1, scale=0.25)


class Lab:
    """Options and sizes of a run of the experiments."""

    def __init__(self, options, sizes, progress=lambda text: None):
        self.options, self.sizes, self.progress = options, sizes, progress
        self.cores = len(os.sched_getaffinity(0))

    def run(self, arms, rounds=None):
        """Figures of the arms, run in interleaved rounds."""
        figures = Figures(self.options.program, self.sizes.name)
        return figures.run(arms, rounds or self.sizes.rounds, self.progress)

    def of(self, amount, least=1, multiple=1):
        """Amount at full sizes, scaled down to a multiple for quick ones."""
        return max(least, multiple * round(amount * self.sizes.scale / multiple))

    @property
    def slow(self):
        return self.options.storage

    def stages(self, order):
        count = len(list(pathlib.Path("images").glob("*.png")))
        return ORDERS[order].format(workers=self.cores, batch=self.options.batch, buffer=min(max(count // 8, 1), 500))


def prepare(lab):
    """Fills the work folder: NIH's originals (or drawn films) several times and once, small films, and records of them."""
    program, data = lab.options.program, lab.options.data
    if data:
        copy_originals(pathlib.Path(data), pathlib.Path("images"), lab.sizes.copies)
        copy_originals(pathlib.Path(data), pathlib.Path("few"))
    else:
        for name, count in (("images", 60 * lab.sizes.copies), ("few", 60)):
            run([program, "synth", "drawn", "--images", count, "--size", 1024, "--seed", 1])
            pathlib.Path("drawn/images").rename(name)
            shutil.rmtree("drawn")
    run([program, "synth", "films", "--images", 64, "--size", 256, "--seed", 1])
    run([program, "convert", "films", "film_records", "--to", "tfrecord", "--shards", 8, "--set", "data.split=whole"])


def read_once(folder):
    """Reads a folder's files into the page cache."""
    for path in pathlib.Path(folder).iterdir():
        path.read_bytes()


def orders(lab):
    """Naive, ten-step and default order with an emulated device, from memory and slow storage, and with a network."""
    def read(result):
        return [({}, {key: result[key] for key in ("images_per_s", "wait_share")})]

    devices = {f"emulated:{lab.options.rate:g}": {"device": f"emulated:{lab.options.rate:g}", "image": 224},
               "resnet18": {"model": "resnet18", "image": lab.of(64, 32)}}
    arms = [Arm({"device": device, "storage": storage, "order": order},
                case("overlap", data="images", workers=lab.cores, rounds=1, batch=lab.options.batch, readers=READERS,
                     pipeline=lab.stages(order), steps=MANY_STEPS, cell_seconds=lab.sizes.cell_s,
                     emulate_storage=lab.slow if storage == "slow" else None, **more),
                read, "measured" if "model" in more and storage == "memory" else "emulated",
                before=lambda: read_once("images"))
            for device, more in devices.items() for storage in ("memory", "slow") for order in ORDERS]
    figures = lab.run(arms)
    figures.ratios("of_naive", "images_per_s", lambda settings: {**settings, "order": "naive"})
    return figures.rows("orders")


def faults(lab):
    """Faults of the naive order, one at a time, on one of two ranks."""
    def read(result):
        return [({"order": row["order"], "fault": row["fault"] or "none"},
                 {"images_per_s": row["images_per_s"], "lost": row["lost"]}) for row in result["orders"]]

    arms = [Arm({"storage": storage}, case("ablation", data="images", image=224, workers=lab.cores, batch=lab.options.batch,
                                           rounds=1, steps=lab.sizes.steps, emulate_storage=slow), read,
                "emulated" if slow else "measured", before=lambda: read_once("images"))
            for storage, slow in (("memory", None), ("slow", lab.slow))]
    return lab.run(arms).rows("faults")


def overlap(lab):
    """Input alone, training alone, one after the other, and overlapped."""
    def read(result):
        times = {f"{name}_ms": value for name, value in result["step_ms"].items() if name != "input_work"}
        limit = next(row for row in result["limits"] if row["cores"] == result["cores"])
        return [({"cores": result["cores"]}, {**times, "of_least": limit["ratio"], "gain": result["gain"]})]

    shared = {"data": "images", "workers": lab.cores, "batch": lab.options.batch, "rounds": 1}
    network = {"model": "resnet18", "image": lab.of(128, 32), "steps": 3 * lab.sizes.train_steps}
    first = sorted(os.sched_getaffinity(0))[0]
    kinds = {"resnet18": network, "resnet18, input on its own core": {**network, "input_cores": first},
             "emulated:300": {"device": "emulated:300", "image": 224, "steps": lab.sizes.steps}}
    if lab.cores == 1:
        del kinds["resnet18, input on its own core"]
    arms = [Arm({"device": name}, case("overlap", **shared, **kind), read,
                "emulated" if "device" in kind else "measured", before=lambda: read_once("images"))
            for name, kind in kinds.items()]
    return lab.run(arms).rows("overlap")


def ranks(lab):
    """Files and records of the same bytes, for every order and number of ranks, with emulated devices and storage."""
    def read(result):
        point = result["points"][0]
        return [({}, {"images_per_s": point["images_per_s"], "wait_share": point["data_wait"]})]

    most = max(lab.sizes.ranks)
    cells = [("densenet121", order, count) for order in ORDERS for count in lab.sizes.ranks]
    cells += [("resnet50", order, most) for order in ("naive", "default")]
    rates = {"densenet121": 144, "resnet50": 112}
    arms = [Arm({"model": model, "order": order, "ranks": count, "format": form},
                case("scaling", ranks=count, model=model, batch=16, image=64, threads=1, channels=1, algorithms="direct",
                     warmup=lab.sizes.rank_warmup, steps=4, repeat=1, oversubscribe=True,
                     device=f"emulated:{rates[model]}", data=folder, pipeline=order, workers=1,
                     emulate_storage=lab.options.rank_storage), read, "emulated")
            for model, order, count in cells for form, folder in (("files", "films"), ("tfrecord", "film_records"))]
    figures = lab.run(arms)
    figures.ratios("records_of_files", "images_per_s",
                   lambda s: {**s, "format": "files"} if s["format"] == "tfrecord" else None)
    figures.ratios("of_naive", "images_per_s", lambda s: {**s, "order": "naive"})
    figures.ratios("speedup", "images_per_s", lambda s: {**s, "ranks": 1})
    gains = {("resnet50", 4): 1.0839, ("densenet121", 4): 1.131}
    rates_of_source = CLUSTERS["S0"][2]

    def published(settings, metric):
        count = settings["ranks"]
        if metric == "records_of_files" and (settings["model"], count) in gains:
            return Published(gains[settings["model"], count], V100)
        is_source = settings["model"] == "densenet121" and settings["order"] == "tf-official"
        if metric == "speedup" and is_source and settings["format"] == "tfrecord" and count in rates_of_source:
            return Published(round(rates_of_source[count] / rates_of_source[1], 3), V100)
        return None

    return figures.rows("ranks", published)


def convert(lab):
    """Speed of files and records, and the number of trainings from which a conversion pays."""
    def read(result):
        return [({"format": row["form"], "size": row["size"], "pages": pages},
                 {"images_per_s": row[f"{pages}_images_per_s"], "convert_s": row["convert_s"]})
                for row in result["formats"] for pages in ("warm", "cold")]

    images = len(list(pathlib.Path("few").glob("*.png")))
    arm = Arm({}, case("formats", data="few", image=224, workers=lab.cores, batch=16, rounds=1, work=".",
                       cell_seconds=lab.sizes.cell_s / 2), read, "measured")
    figures = lab.run([arm])
    figures.ratios("of_files", "images_per_s", lambda s: {**s, "format": "files", "size": "original"})
    for key, metrics in list(figures.values.items()):
        settings = dict(key)
        if settings["format"] == "files":
            continue
        files = figures.values[tuple({**settings, "format": "files", "size": "original"}.items())]["images_per_s"]
        costs = [epochs_to_pay(images, *round_) for round_ in zip(files, metrics["images_per_s"], metrics["convert_s"])]
        if all(map(math.isfinite, costs)):
            note = {**figures.notes[key], "origin": "predicted"}
            for changes in (0, 10, 100):
                for cost in costs:
                    figures.add({**settings, "changes": changes, "epochs": 50},
                                {"break_even_epochs": (1 + changes) * cost,
                                 "least_trainings": math.floor((1 + changes) * cost / 50) + 1}, note)

    def published(settings, metric):
        is_record = settings["format"] == "tfrecord keep" and settings["pages"] == "cold"
        return Published(1.08, V100, high=1.15) if metric == "of_files" and is_record else None

    return figures.rows("convert", published)


def epochs_to_pay(images, files_per_s, records_per_s, convert_s):
    """Epochs until faster reading has repaid a conversion, as `bench formats` computes it. Infinite if reading is no
    faster."""
    saved = images / files_per_s - images / records_per_s
    return convert_s / saved if saved > 0 else math.inf


def folders(lab):
    """The same images on the disk and in memory, with and without the page cache."""
    def read(result):
        return [({"folder": "disk" if index == 0 else "memory", "file_system": row["file_system"]},
                 {"images_per_s": row["images_per_s"], "of_disk": row["of_first"]})
                for index, row in enumerate(result["folders"])]

    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        copy = pathlib.Path(memory) / "images"
        shutil.copytree("images", copy)
        arms = [Arm({"pages": pages}, case("pipeline", data="images", compare_data=copy, image=224, workers=lab.cores,
                                           batch=16, warmup=4, steps=2 * lab.sizes.steps, rounds=1, cold=pages == "cold"),
                    read, "measured") for pages in ("warm", "cold")]
        rows = lab.run(arms).rows("folders")
    return [{**row, "command": row["command"].replace(str(copy), "/dev/shm/images")} for row in rows]


def step_figures(result):
    return [({}, {"images_per_s": result["images_per_s"], "activations_mib": result["memory"]["activations_bytes"] / 2**20})]


def step_arm(lab, model, batch, image, fuse):
    batch, image = lab.of(batch, 2), image if model.startswith("inception") else lab.of(image, 32, 16)
    return Arm({"model": model, "image_px": image, "batch": batch, "fuse": fuse},
               case("step", model=model, batch=batch, image=image, threads=lab.cores, warmup=1, fuse=fuse,
                    steps=lab.sizes.train_steps), step_figures, "measured")


def of_off(settings):
    return {**settings, "fuse": "off"} if settings["fuse"] == "on" else None


def fusion(lab):
    """Training steps with all fusions and without any."""
    networks = {"resnet50": (16, 128), "inception_v3": (8, 299), "inception_v4": (4, 299), "densenet121": (16, 128)}
    figures = lab.run([step_arm(lab, model, batch, image, fuse) for model, (batch, image) in networks.items()
                       for fuse in ("off", "on")])
    figures.ratios("of_off", "images_per_s", of_off)
    figures.ratios("memory_of_off", "activations_mib", of_off)

    def published(settings, metric):
        has_range = settings["model"] != "densenet121"
        return Published(1.35, S2_CARDS, high=1.43) if metric == "of_off" and has_range else None

    return figures.rows("fusion", published)


def batch(lab):
    """ResNet-50 with batches of 128 and 256, with all fusions and without any."""
    small, large = lab.of(128), lab.of(256)
    figures = lab.run([step_arm(lab, "resnet50", count, 48, fuse) for count in (128, 256) for fuse in ("off", "on")])
    figures.ratios("of_off", "images_per_s", of_off)
    figures.ratios("of_smaller_batch", "images_per_s",
                   lambda settings: {**settings, "batch": small} if settings["batch"] == large else None)

    def published(settings, metric):
        gain = {128: 1.35, 256: 1.46}.get(settings["batch"])
        return Published(gain, S2_V100) if metric == "of_off" and gain else None

    return figures.rows("batch", published)


def processes(lab):
    """One batch divided among 1, 2, 4 ... processes on the same cores."""
    def read(result):
        return [({"model": result["model"], "processes": point["ranks"], "threads": point["threads"]},
                 {"images_per_s": point["images_per_s"], "of_one": point["speedup"]}) for point in result["points"]]

    counts = [2**power for power in range(lab.cores.bit_length()) if 2**power <= lab.cores]
    arms = [Arm({}, case("scaling", ranks_per_node=",".join(map(str, counts)), model=model, image=lab.of(128, 32),
                         batch=lab.of(16, 2 * max(counts), max(counts)), strong=True, warmup=1,
                         steps=2 * lab.sizes.train_steps, repeat=1),
                read, "measured") for model in ("resnet50", "densenet121")]
    return lab.run(arms).rows("processes")


def can_emulate_hosts():
    return os.geteuid() == 0 and shutil.which("ip") is not None and shutil.which("mpirun") is not None


def hosts(lab):
    """Predicted speed of the sources' clusters and of hosts like this one, and emulated hosts with their prediction."""
    def points(result):
        return [({"devices": point["devices"]}, {key: point[key] for key in ("images_per_s", "efficiency")})
                for point in result["points"]]

    devices = [8, 12, 16, 32, 64, 128, 256, 512, 896, 1024, 2048, 4096]
    scale = lambda **settings: ["doctor", "scale", *case("", **settings)[2:]]
    predicted = [Arm({"cluster": name, "model": model},
                     scale(model=model, image=64, threads=1, device_sd=2, devices=",".join(map(str, devices)), **options),
                     points, "predicted") for name, (model, options, _, _) in CLUSTERS.items()]
    predicted.append(Arm({"cluster": "hosts like this one, 25 Gbit/s", "model": "resnet50"},
                         scale(model="resnet50", batch=16, image=lab.of(128, 32), bandwidth="25Gbit",
                               latency="30us", steps=lab.sizes.train_steps, devices=",".join(map(str, devices))),
                         points, "predicted"))
    small = {"model": "densenet121", "batch": 16, "image": 64, "threads": 1, "device": "emulated:64"}
    few = {"cluster": "emulated hosts, 1 Gbit/s", "model": "densenet121"}
    predicted.append(Arm(few, scale(**small, devices=",".join(map(str, lab.sizes.ranks[1:])), per_host=1,
                                    bandwidth="117MB", latency="60us"), points, "predicted"))
    figures = lab.run(predicted, rounds=1)
    for key, note in figures.notes.items():
        figures.notes[key] = {**note, "hardware": f"cluster of the command; computed on {note['hardware']}"}
    rows = figures.rows("hosts", published_scale)
    if not can_emulate_hosts():
        print("hosts: emulated hosts are left out, because they need root, iproute2 and mpirun", file=sys.stderr)
        return rows
    os.environ.setdefault("EMULATED_HOSTS", "rgstudy")
    speed = lambda result: [({}, {"images_per_s": result["points"][0]["images_per_s"]})]
    emulated = lab.run([
        Arm({**few, "devices": count}, case("scaling", ranks=count, **small, oversubscribe=True, warmup=2, repeat=1,
                                            steps=2 * lab.sizes.train_steps,
                                            hosts=",".join(f"10.99.0.{i + 1}:1" for i in range(count))), speed, "emulated",
            prefix=(TOOLS / "emulated_hosts.sh", str(count), "1gbit")) for count in lab.sizes.ranks])
    emulated.ratios("speedup", "images_per_s", lambda s: {**s, "devices": 1})
    for settings, metrics in emulated.values.items():
        if "speedup" in metrics:
            metrics["efficiency"] = [value / dict(settings)["devices"] for value in metrics["speedup"]]
        guess = figures.values.get(settings, {}).get("images_per_s")
        if guess:
            metrics["of_predicted"] = [value / guess[0] for value in metrics["images_per_s"]]
    return rows + emulated.rows("hosts")


def published_scale(settings, metric):
    """Published images/s or efficiency of a cluster. S2 has no images/s."""
    if settings["cluster"] not in CLUSTERS:
        return None
    _, _, rates, hardware = CLUSTERS[settings["cluster"]]
    count = settings["devices"]
    if count not in rates or (metric == "images_per_s" and settings["cluster"] == "S2"):
        return None
    value = rates[count] if metric == "images_per_s" else rates[count] / rates[1] / count
    return Published(round(value, 3), hardware)


EXPERIMENTS = {function.__name__: function
               for function in (orders, faults, overlap, ranks, convert, folders, fusion, batch, processes, hosts)}
