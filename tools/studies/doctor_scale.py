#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares `roentgen doctor scale` with `roentgen bench scaling` on one and two emulated hosts.

  tools/studies/doctor_scale.py --rate 1gbit --rounds 5 --json doctor_scale.json

Each round predicts and measures, in turns that alternate. The links of the prediction are measured between the emulated
hosts, as `doctor net` measures them. Prints the medians and their ratio, and exits with 1 if a ratio differs from 1 by
more than --tolerance. Needs root, iproute2 and MPI; exits with 77 and says so without them."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import study

SKIPPED = 77
HOSTS = 2


def why_skipped(user=None, find=shutil.which):
    """Reason why hosts cannot be emulated here; None if they can."""
    if (os.geteuid() if user is None else user) != 0:
        return "expected root, to make network namespaces"
    missing = [name for name in ("ip", "tc", "mpirun") if find(name) is None]
    return f"expected the programs {', '.join(missing)}" if missing else None


def commands(options, result):
    """Command of the prediction and of the measurement, by name, as run on the first emulated host."""
    hosts = ",".join(f"10.99.0.{i + 1}:1" for i in range(HOSTS))
    network = ["--model", options.model, "--batch", options.batch, "--image", options.image, "--threads", 1,
               "--device", options.device]
    counts = ",".join(str(i + 1) for i in range(HOSTS))
    return {
        "predicted": [options.program, "doctor", "scale", "--hosts", hosts, *network, "--devices", counts,
                      "--steps", options.steps, "--json", result],
        "measured": [options.program, "bench", "scaling", "--hosts", hosts, *network, "--ranks", counts, "--per-host", 1,
                     "--warmup", 3, "--steps", options.steps, "--repeat", 1, "--oversubscribe", "--ledger", "none",
                     "--json", result],
    }


def speeds(result):
    """Images per second by number of devices, in a result of either command."""
    return {point.get("devices", point.get("ranks")): point["images_per_s"] for point in result["points"]}


def compare(rounds, tolerance):
    """Rows (devices, predicted, measured, ratio, is near) of the medians over all rounds.
    `rounds`: {"predicted": [speeds()], "measured": [speeds()]}"""
    rows = []
    for count in sorted(rounds["predicted"][0]):
        predicted, measured = (statistics.median(each[count] for each in rounds[arm])
                               for arm in ("predicted", "measured"))
        ratio = predicted / measured
        rows.append((count, predicted, measured, ratio, abs(ratio - 1.0) <= tolerance))
    return rows


def run(options, arm):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        command = [study.TOOLS / "emulated_hosts.sh", HOSTS, options.rate, *commands(options, result)[arm]]
        ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if not result.exists():
            sys.exit(f"[studies.doctor_scale] {arm}: expected a result, got exit code {ended.returncode}\n{ended.stderr}")
        return json.loads(result.read_text())


def main():
    parser = study.parser_of(__doc__, rate="1gbit", rounds=5, tolerance=0.1, model="resnet18", batch=8, image=64,
                             device="emulated:20", steps=10)
    options = parser.parse_args()
    reason = why_skipped()
    if reason:
        print(f"[studies.doctor_scale] SKIPPED: {reason}", file=sys.stderr)
        return SKIPPED
    rounds = {"predicted": [], "measured": []}
    for index, arm in study.interleaved(rounds, options.rounds):
        rounds[arm].append(speeds(run(options, arm)))
        print(f"round {index + 1} of {options.rounds}, {arm}: {rounds[arm][-1]}", file=sys.stderr)
    rows = compare(rounds, options.tolerance)
    table = study.markdown_table(
        ["devices", "predicted images/s", "measured images/s", "ratio", "near"],
        [(count, f"{a:.2f}", f"{b:.2f}", f"{ratio:.3f}", "yes" if is_near else "no")
         for count, a, b, ratio, is_near in rows])
    study.write(options, {"rate": options.rate, "rounds": rounds, "tolerance": options.tolerance}, table)
    return 0 if all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
