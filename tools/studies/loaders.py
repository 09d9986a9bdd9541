#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares roentgen.Loader with other loaders of training images: images/s and memory, as tables in Markdown.

  tools/studies/loaders.py --python VENV/bin/python --tensorflow-python TF/bin/python --json loaders.json
  tools/studies/loaders.py --python VENV/bin/python --data "" --images 400      # of synthetic films
  tools/studies/loaders.py --from loaders.json --svg loaders.svg                 # tables and chart again, no run

VENV has a wheel of roentgen and the loaders' packages of tools/peers/requirements.txt; TF has tensorflow-cpu. Makes
1024 px PNG files, JPEG files of the same pictures, and raw records of 224 px in --work (2 GB), unless they are there.
Each loader is a process of tools/peers/bench_loaders.py with --threads threads or worker processes on as many cores.
The first round takes memory and brings the files into the page cache; the others take images/s, in interleaved order.

Memory is PSS of the process and its children, sampled ten times a second while each batch is held for a second, so that
batches are ready as in training. The result is the largest PSS minus that of a process that only imports. Pages of files
that other programs map count in part, so run it on a quiet machine, and see the column without files. This column counts
anonymous memory and all shared memory of the processes, also unmapped batches. Ratios are medians over the rounds
(smallest to largest). A loader that fails is left out and named.
"""
import array
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from study import (PROGRAM, TOOLS, bench, cpu_text, interleaved, markdown_table, package_text, parser_of, run, words_of,
                   write)

sys.path.insert(0, str(TOOLS))
from nih_originals import copy_originals  # noqa: E402

SCRIPT = TOOLS / "peers" / "bench_loaders.py"
OURS, PROGRAM_ARM = "roentgen", "roentgen bench pipeline"
NAMES = {
    OURS: "roentgen.Loader", PROGRAM_ARM: "the program alone (`roentgen bench pipeline`)", "dali": "DALI, CPU",
    "opencv": "OpenCV, threads", "opencv, half": "OpenCV, threads, decoded to 1/2",
    "opencv, quarter": "OpenCV, threads, decoded to 1/4", "torchvision": "torchvision.io, DataLoader",
    "pillow": "Pillow, DataLoader", "pillow, draft": "Pillow, DataLoader, decoded to 1/4", "tensorflow": "tf.data",
    "tensorflow, quarter": "tf.data, decoded to 1/4", "spdl": "SPDL", "litdata": "LitData",
    "torchcodec": "torchcodec, DataLoader", "memmap": "np.memmap, DataLoader",
    "memmap, batches": "np.memmap, DataLoader, a batch at a time",
}
TITLES = {"png": "1024 px PNG files", "jpeg": "1024 px JPEG files", "raw": "raw records of 224 px"}
LOADERS = {
    "png": [OURS, "dali", "opencv", "torchvision", "pillow", "tensorflow", "spdl", "litdata", "torchcodec"],
    "jpeg": [OURS, "dali", "opencv", "opencv, half", "opencv, quarter", "torchvision", "pillow", "pillow, draft",
             "tensorflow", "tensorflow, quarter", "spdl", "litdata", "torchcodec"],
    "raw": [OURS, "memmap", "memmap, batches"],
}
STEPS = {"png": 40, "jpeg": 120, "raw": 800}  # steps of `bench pipeline`
SAMPLES_PER_S, HOLD_S = 10, 1.0  # while memory is measured
LIMIT_S = 300  # time limit of one process
KINDS = ("Pss", "Pss_Anon", "Pss_File", "Pss_Shmem", "shared")


def prepare(options):
    """Fills the folder with PNG and JPEG files, raw records, and the files of loaders with their own format."""
    png = options.work / "png"
    if png.exists():
        return
    if options.data:
        copy_originals(pathlib.Path(options.data), png, options.copies)
    else:
        drawn = options.work / "synth"
        run([options.program, "synth", drawn, "--images", options.images, "--size", 1024])
        (drawn / "images").rename(png)
    run([options.python, TOOLS / "peers" / "loaders_files.py", options.work, "--size", options.image])
    for folder in (png, options.work / "jpeg"):
        names = sorted(path.name for path in folder.iterdir())
        (folder / "labels.csv").write_text("path,finding\n" + "".join(f"{name},0\n" for name in names))
    run([options.program, "convert", png, options.work / "raw", "--to", "tfrecord", "--encode", "raw", "--resize",
         options.image, "--set", "data.labels=finding", "--set", "data.split=whole"])


def pss_of(session):
    """Bytes of every kind of PSS of the processes of a session, and of the files in shared memory that they hold open:
    batches on their way from a worker are mapped by no process."""
    sums, shared = dict.fromkeys(KINDS, 0), {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) != session:
                continue
            for line in (folder / "smaps_rollup").read_text().splitlines():
                kind = line.partition(":")[0]
                if kind in sums:
                    sums[kind] += 1024 * int(line.split()[1])
            for file in (folder / "fd").iterdir():
                if os.readlink(file).startswith("/dev/shm/"):
                    entry = file.stat()
                    shared[entry.st_ino] = 512 * entry.st_blocks
        except (OSError, IndexError):  # the process has ended
            continue
    return sums | {"shared": sum(shared.values())}


def run_alone(command, memory_s=0):
    """(output, the sample with the largest PSS of the last `memory_s` seconds) of a command and its children, which are
    all gone then. What imports need for a while comes before these seconds."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=errors, text=True,
                                   start_new_session=True)
        samples = [(time.monotonic(), dict.fromkeys(KINDS, 0))]
        end = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < end:
            if memory_s:
                samples.append((time.monotonic(), pss_of(process.pid)))
            try:
                process.wait(1 / SAMPLES_PER_S)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        output = process.communicate()[0]
        errors.seek(0)
        if process.returncode:
            lines = errors.read().strip().splitlines() or ["no output"]
            raise RuntimeError(f"status {process.returncode}, {lines[-1]}")
        last = samples[-1][0]
        return output, max((pss for at, pss in samples if last - at <= memory_s), key=lambda pss: pss["Pss"])


def command_of(options, loader, **settings):
    python = options.python
    if loader.startswith("tensorflow"):
        python = options.tensorflow_python or python
    settings = {"loader": loader, "work": options.work, "batch": options.batch, "image": options.image,
                "threads": options.threads, "seconds": options.seconds, **settings}
    return [python, SCRIPT, *words_of(settings)]


def levels_between(ours, theirs):
    """Mean and largest difference between two files of float32 values, in gray levels of 255."""
    values = [array.array("f", path.read_bytes()) for path in (ours, theirs)]
    gaps = [63.75 * abs(a - b) for a, b in zip(*values, strict=True)]
    return {"mean": statistics.fmean(gaps), "largest": max(gaps)}


def run_program(options, case):
    """Throughput of the program itself, without Python."""
    return bench(options.program, "pipeline", data=options.work / case, image=options.image, batch=options.batch,
                 workers=options.threads, channels=1, warmup=4, steps=STEPS[case])


def measure_memory(options, arms, folder):
    """{arm: memory, levels, program} of the loaders that run, and one line for each that does not."""
    idle, rows, missing = {}, {}, []
    for case, loader in arms:
        print(f"memory, {case}, {loader}", file=sys.stderr, flush=True)
        first = folder / f"{case}_{loader}"
        try:
            if loader not in idle:
                idle[loader] = run_alone(command_of(options, loader, idle=True, seconds=2), 1)[1]
            output, peak = run_alone(command_of(options, loader, case=case, first=first, hold=HOLD_S), options.seconds)
        except RuntimeError as error:
            if loader == OURS:
                sys.exit(f"{SCRIPT} --loader {loader} --case {case}: {error}")
            missing.append(f"{TITLES[case]}, {NAMES[loader]}: left out, {error}")
            print(missing[-1], file=sys.stderr)
            continue
        rows[case, loader] = {
            "program": json.loads(output)["peer"], "levels": levels_between(folder / f"{case}_{OURS}", first),
            "idle_bytes": idle[loader], "peak_bytes": peak,
            "memory_bytes": {kind: peak[kind] - idle[loader][kind] for kind in KINDS}}
    return rows, missing


def measure(options):
    """Runs every loader. Returns the record of results."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    package = package_text(options.python)
    prepare(options)
    arms = [(case, loader) for case in options.cases.split(",") for loader in LOADERS[case]]
    with tempfile.TemporaryDirectory() as folder:
        rows, missing = measure_memory(options, arms, pathlib.Path(folder))
    speeds = {arm: [] for arm in rows} | {(case, PROGRAM_ARM): [] for case in options.cases.split(",")}
    cpu, loads = "", []
    for index, (case, loader) in interleaved(speeds, options.rounds):
        if loader == PROGRAM_ARM:
            result = run_program(options, case)
            cpu, speed = cpu_text(result), result["images_per_s"]
        else:
            result = json.loads(run_alone(command_of(options, loader, case=case))[0])
            speed = result["figures"][loader]
        speeds[case, loader].append(speed)
        loads.append(os.getloadavg()[0])
        print(f"round {index + 1}, {case}, {loader}: {speed:.0f}, load {loads[-1]:.1f}", file=sys.stderr, flush=True)
    table = [{"case": case, "loader": loader, "images_per_s": figures, **rows.get((case, loader), {})}
             for (case, loader), figures in speeds.items()]
    settings = {name: getattr(options, name) for name in ("batch", "image", "threads", "rounds", "seconds")}
    images = sum(1 for _ in (options.work / "png").glob("*.png"))
    return {"case": "loaders", "package": package, "cpu": cpu, "images": images, **settings, "loads": loads, "table": table,
            "missing": missing}


def ratio_text(ours, theirs):
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"


def mib(row, *kinds):
    return f"{sum(row['memory_bytes'][kind] for kind in kinds) / 2**20:,.0f}" if "memory_bytes" in row else ""


def case_markdown(case, rows):
    """Table of a case; compares roentgen with the fastest peer, and its memory with that of DataLoader."""
    ours = next(row for row in rows if row["loader"] == OURS)
    lines = []
    for row in rows:
        speeds, levels = row["images_per_s"], row.get("levels")
        is_ours = row is ours
        lines.append([NAMES[row["loader"]], row.get("program", "").rpartition(" ")[2],
                      f"{statistics.median(speeds):,.0f} ({min(speeds):,.0f} to {max(speeds):,.0f})",
                      "" if is_ours else ratio_text(ours["images_per_s"], speeds), mib(row, "Pss"),
                      mib(row, "Pss_Anon", "shared"),
                      f"{levels['mean']:.2f}, {levels['largest']:.0f}" if levels and not is_ours else ""])
    head = ["loader", "version", "images/s", "ours is", "PSS, MiB", "without files, MiB", "levels from ours"]
    text = f"## {TITLES[case][0].upper()}{TITLES[case][1:]}\n\n{markdown_table(head, lines)}\n"
    peers = [row for row in rows if row["loader"] not in (OURS, PROGRAM_ARM)]
    if peers:
        fastest = [max(speeds) for speeds in zip(*(row["images_per_s"] for row in peers), strict=True)]
        text += f"Beside the fastest peer of each round: {ratio_text(ours['images_per_s'], fastest)}.\n"
    return text


def svg(record):
    """Bar chart of the median images/s, with one part per case, in one column that fits a phone."""
    line, bar, name_width, width, top = 22, 15, 300, 560, 8
    out = []
    for case in TITLES:
        rows = [(NAMES[row["loader"]], row["loader"] == OURS, statistics.median(row["images_per_s"]))
                for row in record["table"] if row["case"] == case and row["loader"] != PROGRAM_ARM]
        if not rows:
            continue
        out.append(f'<text x="8" y="{top + 14}" font-weight="bold">{TITLES[case][0].upper()}{TITLES[case][1:]}, images/s</text>')
        most, top = max(speed for _, _, speed in rows), top + line + 2
        for name, is_ours, speed in sorted(rows, key=lambda row: -row[2]):
            length, text_y = (width - name_width - 60) * speed / most, top + bar - 3
            out.append(f'<text x="{name_width - 6}" y="{text_y}" text-anchor="end">{name.replace("decoded to", "at")}</text>')
            out.append(f'<rect x="{name_width}" y="{top}" width="{length:.1f}" height="{bar}" '
                       f'fill="{"#1f6fb2" if is_ours else "#b9c4cd"}"/>')
            out.append(f'<text x="{name_width + length + 5:.1f}" y="{text_y}">{speed:,.0f}</text>')
            top += line
        top += line
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}" '
            'font-family="sans-serif" font-size="14">\n<rect width="100%" height="100%" fill="white"/>\n' +
            "\n".join(out) + "\n</svg>\n")


def markdown(record):
    """All tables as Markdown."""
    loads = record["loads"]
    parts = [f"Machine: {record['cpu']}. {record['images']} images, batches of {record['batch']}, {record['threads']} "
             f"threads or workers, {record['rounds']} rounds of {record['seconds']:g} s. Load average "
             f"{min(loads):.1f} to {max(loads):.1f}. Package: {record.get('package', 'not recorded')}.\n"]
    for case in TITLES:
        rows = [row for row in record["table"] if row["case"] == case]
        if rows:
            parts.append(case_markdown(case, rows))
    return "\n".join(parts + [f"- {line}\n" for line in record["missing"]])


def main():
    parser = parser_of(__doc__, cases="png,jpeg,raw", batch=64, image=224, threads=2, rounds=5, seconds=4.0, copies=24,
                       images=400)
    parser.add_argument("--data", default="../shared/data/nih/png", help="radiographs; empty: synthetic ones, --images")
    parser.add_argument("--work", type=pathlib.Path, default=PROGRAM.parent / "loaders", help="folder for the files")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the loaders")
    parser.add_argument("--tensorflow-python", help="the one that has TensorFlow, if another")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="JSON of an earlier run, instead of a run")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    record = json.loads(options.source.read_text()) if options.source else measure(options)
    write(options, record, markdown(record))
    if options.svg:
        options.svg.write_text(svg(record))


if __name__ == "__main__":
    main()
