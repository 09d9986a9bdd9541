#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Repeats published experiments, and writes csv files, a page with tables and sentences, and charts.

  tools/studies/experiments.py                         # all experiments, under 20 minutes on two idle cores
  tools/studies/experiments.py --only orders,ranks     # some of them; the page keeps the other csv files
  tools/studies/experiments.py --quick --out /tmp/x    # 3 minutes, to test the script
  tools/studies/experiments.py --page                  # page and charts from the csv files, no run

Writes --out/experiments/NAME.csv, --out/experiments.md and charts in --images. Rows of a csv file are medians of
interleaved rounds (low, high: least and most of them), each marked measured, emulated or predicted. Values that a source
published stand beside them. Images come from --data, or are drawn if --data is empty. Without root, `hosts` leaves out
the emulated hosts.
"""
import contextlib
import pathlib
import sys
import tempfile

from study import TOOLS, parser_of
from experiment_figures import read_csv, write_csv
from experiment_page import charts, page
from experiment_runs import EXPERIMENTS, FULL, QUICK, Lab, prepare

DOCS = TOOLS.parent / "docs"


def measure(options, names):
    """Runs the experiments in a temporary folder and writes their csv files."""
    lab = Lab(options, QUICK if options.quick else FULL, lambda text: print(text, file=sys.stderr, flush=True))
    with tempfile.TemporaryDirectory(dir=options.work) as work, contextlib.chdir(work):
        prepare(lab)
        for name in names:
            print(f"experiment {name}", file=sys.stderr, flush=True)
            write_csv(options.out / "experiments" / f"{name}.csv", EXPERIMENTS[name](lab))


def write_page(out, images):
    """Page and charts from the csv files that exist."""
    tables = {path.stem: read_csv(path) for path in (out / "experiments").glob("*.csv")}
    tables = {name: tables[name] for name in EXPERIMENTS if name in tables}
    images.mkdir(parents=True, exist_ok=True)
    for name, picture in charts(tables).items():
        (images / f"{name}.svg").write_text(picture, encoding="utf-8")
    (out / "experiments.md").write_text(page(tables), encoding="utf-8")


def main():
    parser = parser_of(__doc__, only=",".join(EXPERIMENTS), batch=16, rate=1000.0,
                       storage="open=2ms,read=1ms,opens_per_s=1000", rank_storage="open=1.5ms,read=9ms")
    parser.add_argument("--data", default="../shared/data/nih/png", help="folder of gray 1024 px PNG files, or empty")
    parser.add_argument("--work", type=pathlib.Path, help="where the temporary folder is made")
    parser.add_argument("--out", type=pathlib.Path, default=DOCS / "results")
    parser.add_argument("--images", type=pathlib.Path, help="default: docs/images/experiments, or --out/images")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and one round")
    parser.add_argument("--page", action="store_true", help="only page and charts, from the csv files")
    options = parser.parse_args()
    names = options.only.split(",")
    for name in names:
        if name not in EXPERIMENTS:
            sys.exit(f"[experiments] --only: expected {', '.join(EXPERIMENTS)}, got {name}")
    options.out, options.program = options.out.resolve(), options.program.resolve()
    options.images = (options.images or (DOCS / "images/experiments" if options.out == DOCS / "results"
                                         else options.out / "images")).resolve()
    options.data = options.data and str(pathlib.Path(options.data).resolve())
    if not options.page:
        measure(options, names)
    write_page(options.out, options.images)


if __name__ == "__main__":
    main()
