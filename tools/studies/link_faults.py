#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Trains over four emulated networks: without faults, with lost packets, with one slow link, and with both. Prints a table in
Markdown: for each network, the time of an update and the slow link that the run named.

  tools/studies/link_faults.py          # root; 4 hosts at 1 Gbit/s, 1% lost, host 3 at 100 Mbit/s; 5 minutes
  tools/studies/link_faults.py --hosts 4 --rate 1gbit --slow 3:100mbit --loss 1 --json faults.json

Hosts are network namespaces of this machine (emulated_hosts.sh), with one rank and one compute thread each. A small ResNet-18
really trains on images of 32 px, and exchanges 43 MiB of gradients per update. The network is emulated and the hosts share the
cores of one machine, so the times only compare the cases. Exits 1 if a run ended early, reached another loss than the first, did
not test its links, or named another link than the slow one.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from study import TOOLS, markdown_table, parser_of, run, write

STOPPED = 3  # exit code of --stop-after, with everything saved
FIRST_TEST = 10  # number of updates before a run tests its links for the first time


def cases(options):
    """Name and environment variables of each case."""
    loss, slow = {"LOSS": options.loss}, {"SLOW": options.slow}
    return [("well", {}), (f"{options.loss}% of all packets lost", loss), (f"host {slow_host(options.slow)} slow", slow),
            ("both", loss | slow)]


def slow_host(text):
    """ "3:100mbit" -> 3 """
    return int(text.split(":")[0])


def read_log(text):
    """Updates and link tests in log.jsonl."""
    lines = [json.loads(line) for line in text.splitlines()]
    return ([line for line in lines if line["kind"] == "step"], [line for line in lines if line["kind"] == "links"])


def row_of(name, exit_code, log, said, images):
    """Results of one case. `log`: log.jsonl; `said`: standard error; `images`: images per update."""
    steps, tests = read_log(log)
    if not steps:
        sys.exit(f"{name}: no update was made\n{said}")
    counted = steps[1:] or steps  # the first update takes longer
    seconds = [images / step["images_per_s"] for step in counted]
    return {"case": name, "exit_code": exit_code, "updates": len(steps), "seconds": statistics.median(seconds),
            "seconds_max": max(seconds), "comm_exposed": statistics.median(step["comm_exposed"] for step in counted),
            "losses": [step["loss"] for step in steps], "slow": tests[-1]["slow"] if tests else None,
            "usual_mb_per_s": tests[-1]["usual_mb_per_s"] if tests else None,
            "warnings": [line[line.index("[train.links]"):] for line in said.splitlines() if "[train.links]" in line],
            "lost": next((line.split("] ")[1] for line in said.splitlines() if line.startswith("[emulated.hosts]")), "")}


def faults_of(rows, updates, slow):
    """Unexpected results, one line each. `slow`: number of the slow host."""
    faults = []
    for row in rows:
        named = [f"host{slow}"] if row["case"].startswith("host") or row["case"] == "both" else []
        if row["exit_code"] != STOPPED or row["updates"] != updates:
            faults.append(f"{row['case']}: {row['updates']} updates and exit code {row['exit_code']}, expected {updates} and {STOPPED}")
        if row["losses"] != rows[0]["losses"]:
            faults.append(f"{row['case']}: other losses than '{rows[0]['case']}'")
        if row["slow"] is None:
            faults.append(f"{row['case']}: no test of the links")
        elif row["slow"] != named:
            faults.append(f"{row['case']}: named {row['slow']}, expected {named}")
    return faults


def markdown(rows):
    cells = [[row["case"], f"{row['seconds']:.2f} ({row['seconds_max']:.2f})", f"{row['comm_exposed']:.0%}",
              row["lost"].replace(" packets lost", "") or "0",
              "not tested" if row["slow"] is None else ", ".join(row["slow"]) or "none"] for row in rows]
    return markdown_table(["network (emulated)", "s an update, median (longest)", "waiting for others", "packets lost",
                           "named as slow"], cells)


def run_case(options, name, environment, data, out):
    hosts = ",".join(f"10.99.0.{i + 1}:1" for i in range(options.hosts))
    command = [TOOLS / "emulated_hosts.sh", options.hosts, options.rate, options.program, "train", "--recipe",
               TOOLS.parent / "recipes" / "quickstart.toml", "--data", data, "--out", out, "--ranks", options.hosts,
               "--hosts", hosts, "--oversubscribe", "--stop-after", options.updates]
    for setting in ("model.width=64", "preprocess.size=32", f"train.batch={options.batch}", "train.threads=1", "train.workers=1"):
        command += ["--set", setting]
    done = subprocess.run([str(word) for word in command], env=os.environ | environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    log = pathlib.Path(out) / "log.jsonl"
    return row_of(name, done.returncode, log.read_text() if log.exists() else "", done.stderr, options.hosts * options.batch)


def main():
    parser = parser_of(__doc__, hosts=4, updates=14)
    parser.add_argument("--rate", default="1gbit", help="of every link, as tc writes it")
    parser.add_argument("--slow", default="3:100mbit", help="number of a host, and its rate")
    parser.add_argument("--loss", default="1", help="per cent of the packets that come to a host")
    parser.add_argument("--batch", type=int, default=2, help="of a rank")
    options = parser.parse_args()
    if options.updates <= FIRST_TEST:
        parser.error(f"--updates: expected more than {FIRST_TEST}, got {options.updates}: links are tested after {FIRST_TEST}")
    with tempfile.TemporaryDirectory(prefix="roentgen_faults_") as folder:
        place = pathlib.Path(folder)
        run([options.program, "synth", place / "data", "--images", 800, "--size", 40])
        rows = []
        for i, (name, environment) in enumerate(cases(options)):
            rows.append(run_case(options, name, environment, place / "data", place / str(i)))
            print(f"{name}: {rows[-1]['seconds']:.2f} s an update; load {os.getloadavg()[0]:.1f}", *rows[-1]["warnings"],
                  sep="\n  ", file=sys.stderr, flush=True)
    write(options, rows, markdown(rows))
    faults = faults_of(rows, options.updates, slow_host(options.slow))
    for fault in faults:
        print(f"[link.faults] {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
