#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Shows from which number of workers on the link of a parameter server limits training, beside averaging without servers.

  tools/studies/ps_saturation.py --rounds 5 --json ps_saturation.json       # root; 20 minutes

Every rank runs on its own emulated host (emulated_hosts.sh), and links have --rate Mbit/s. The device is emulated, too: a step
waits, so that computing needs no cores. Gradients and weights of 4.7 MB are really sent. The same runs with unlimited links show
whether the processor would limit them. Every round repeats all runs. Prints the medians and, for each, the time that the busiest
link needs for its bytes. The emulated network cards also count these bytes. Exits with 1 in three cases: the processor limits a
run; an update takes less time than the link needs; the counted bytes differ from the predicted ones. Without root, iproute2 or
MPI, exits with 77 and prints the reason."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import study
from doctor_scale import SKIPPED, why_skipped

CONVOLUTIONS, CHANNELS, LABELS, WARMUP = 8, 128, 14, 3
BUCKET_MB = 0.5  # one bucket for each convolution, so that two servers share the weights evenly
UNLIMITED = "none"
NAME = "rgps"  # of the network namespaces


def network():
    """Text of a network whose convolutions have equally many weights, and its number of parameters."""
    lines = ['graph "even"', "input image (N, C, S, S)",
             f"conv0 = conv2d(image, out={CHANNELS}, kernel=3x3, stride=2x2, pad=1x1)", "relu0 = relu(conv0)"]
    for i in range(1, CONVOLUTIONS + 1):
        lines += [f"conv{i} = conv2d(relu{i - 1}, out={CHANNELS}, kernel=3x3, pad=1x1)", f"relu{i} = relu(conv{i})"]
    lines += [f"pool = global_avg_pool(relu{CONVOLUTIONS})", "flat = flatten(pool)", "fc = linear(flat, out=K)",
              "output logits = fc"]
    layers = [(3 * 9, CHANNELS), *[(CHANNELS * 9, CHANNELS)] * CONVOLUTIONS, (CHANNELS, LABELS)]
    return "\n".join(lines) + "\n", sum((inputs + 1) * outputs for inputs, outputs in layers)


def arms(servers):
    """Options of `bench scaling` by arm; `servers`: such as "1,2"."""
    without = {f"sync, {reduce}": {"update": "sync", "reduce": reduce} for reduce in ("exchange", "ring")}
    return without | {f"ps, {text} server{'s' * (text != '1')}": {"update": "ps", "servers": int(text)}
                      for text in servers.split(",")}


def link_bytes(arm, workers, gradient_bytes):
    """Bytes that the busiest link carries in an update, in each direction."""
    if "servers" in arm:
        return max(workers / arm["servers"], 1) * gradient_bytes  # link of a server, or of a worker if it carries more
    return 2 * (workers - 1) / workers * gradient_bytes


def command(options, arm, workers, rate, folder):
    """Command that runs one cell and counts the bytes that each host receives."""
    hosts = workers + arm.get("servers", 0)
    bench = [options.program, "bench", "scaling", "--ranks", workers,
             "--hosts", ",".join(f"10.99.0.{i + 1}:1" for i in range(hosts)), *study.words_of(arm),
             "--model", folder / "net.txt", "--image", 16, "--labels", LABELS, "--batch", options.batch, "--threads", 1,
             "--device", options.device, "--bucket-mb", BUCKET_MB, "--warmup", WARMUP, "--steps", options.steps,
             "--repeat", 1, "--oversubscribe", "--ledger", "none", "--json", folder / "result.json"]
    count = f'"$@" && for i in $(seq {hosts}); do ip -n {NAME}$i -s -j link show eth0 > {folder}/$i.json; done'
    return [str(word) for word in (study.TOOLS / "emulated_hosts.sh", hosts, rate, "sh", "-c", count, "sh", *bench)]


def run(options, arm, workers, rate):
    """Images/s of all workers, and bytes per update that the busiest host received."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "net.txt").write_text(network()[0])
        ended = subprocess.run(command(options, arm, workers, rate, folder), env=os.environ | {"EMULATED_HOSTS": NAME},
                               capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            sys.exit(f"[studies.ps_saturation] {arm}: expected exit code 0, got {ended.returncode}\n{ended.stderr}")
        counted = [json.loads(path.read_text())[0]["stats64"]["rx"]["bytes"] for path in folder.glob("[0-9]*.json")]
        result = json.loads((folder / "result.json").read_text())["points"][0]
    return {"images_per_s": result["images_per_s"], "bytes": max(counted) / (WARMUP + options.steps)}


def row_of(options, label, workers, rounds):
    """Result of one cell. `rounds`: {rate: [run()]}."""
    images = options.batch * workers
    limited, unlimited = ([each["images_per_s"] for each in rounds[rate]] for rate in (options.rate, UNLIMITED))
    predicted = link_bytes(arms(options.servers)[label], workers, 4 * network()[1])
    return {"arm": label, "workers": workers, "images_per_s": statistics.median(limited), "min": min(limited),
            "max": max(limited), "unlimited": statistics.median(unlimited), "update_s": images / statistics.median(limited),
            "predicted_bytes": predicted, "link_s": predicted / (options.rate * 1e6 / 8),
            "counted_bytes": statistics.median(each["bytes"] for each in rounds[options.rate])}


def faults(rows, device_images_per_s):
    """Reasons why the table would not show what the links limit, one line each."""
    lines = []
    for row in rows:
        cell = f"{row['arm']}, workers {row['workers']}"
        possible = device_images_per_s * row["workers"]
        if row["unlimited"] < 0.8 * possible and row["images_per_s"] > 0.8 * row["unlimited"]:
            lines.append(f"{cell}: without a limit of the links, expected 80% of {possible:.0f} images/s, got "
                         f"{row['unlimited']:.1f}; the processor limits the run")
        if row["update_s"] < 0.95 * row["link_s"]:
            lines.append(f"{cell}: expected at least {row['link_s']:.2f} s for an update, got {row['update_s']:.2f} s")
        if row["predicted_bytes"] and not 0.95 < row["counted_bytes"] / row["predicted_bytes"] < 1.25:
            lines.append(f"{cell}: expected {row['predicted_bytes'] / 1e6:.1f} MB on the busiest link for an update, got "
                         f"{row['counted_bytes'] / 1e6:.1f} MB")
    return lines


def markdown(rows):
    cells = [(row["arm"], row["workers"], f"{row['images_per_s']:.1f} ({row['min']:.1f} to {row['max']:.1f})",
              f"{row['update_s']:.2f}", f"{row['predicted_bytes'] / 1e6:.1f}", f"{row['counted_bytes'] / 1e6:.1f}",
              f"{row['link_s']:.2f}", f"{row['link_s'] / row['update_s']:.0%}", f"{row['unlimited']:.1f}") for row in rows]
    return study.markdown_table(["`--update`", "workers", "images/s (range)", "update, s", "busiest link, MB", "counted, MB",
                                 "link alone, s", "link alone / update", "images/s, links unlimited"], cells)


def main():
    parser = study.parser_of(__doc__, rate=100, rounds=5, steps=10, batch=8, device="emulated:32", workers="1,2,4",
                             servers="1,2")
    options = parser.parse_args()
    reason = why_skipped()
    if reason:
        print(f"[studies.ps_saturation] SKIPPED: {reason}", file=sys.stderr)
        return SKIPPED
    cells = [(label, int(workers)) for workers in options.workers.split(",") for label in arms(options.servers)]
    rounds = {cell: {options.rate: [], UNLIMITED: []} for cell in cells}
    for index, (label, workers) in study.interleaved(cells, options.rounds):
        for rate in (options.rate, UNLIMITED):
            text = rate if rate == UNLIMITED else f"{rate}mbit"
            rounds[label, workers][rate].append(run(options, arms(options.servers)[label], workers, text))
        print(f"round {index + 1} of {options.rounds}, {label}, workers {workers}: "
              f"{rounds[label, workers][options.rate][-1]['images_per_s']:.1f} images/s, links unlimited "
              f"{rounds[label, workers][UNLIMITED][-1]['images_per_s']:.1f}; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    rows = [row_of(options, *cell, rounds[cell]) for cell in cells]
    study.write(options, {"rate_mbit": options.rate, "device": options.device, "batch": options.batch, "rows": rows},
                markdown(rows))
    found = faults(rows, float(options.device.partition(":")[2]))
    for fault in found:
        print(f"[studies.ps_saturation] {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
