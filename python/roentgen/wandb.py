# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes benchmark records and training runs as offline runs of Weights & Biases.

    python -m roentgen.wandb records/ run/ --out DIR
    wandb sync DIR/wandb/offline-run-*                      # with an account

Only the library `wandb` can write these files: `pip install 'roentgen-xray[wandb]'`. Nothing is sent over the network.
"""
from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Mapping, Sequence

from roentgen import _check, _native

_PROGRAM = pathlib.Path(__file__).parent / "bin" / "roentgen"


def _library() -> Any:
    """The module wandb."""
    try:
        library = importlib.import_module("wandb")
    except ImportError:
        library = None
    # A folder ./wandb of earlier runs can be imported, too, but has no functions.
    if not hasattr(library, "init"):
        _check.refuse("wandb", "library", "the Python package wandb", "none", "`pip install wandb`")
    return library


class _OfflineRun:
    """One run in the form of W&B: what to write, without the library."""

    def __init__(self, name: str, identity: str, config: Mapping[str, Any]) -> None:
        self.name = name
        self.id = identity
        self.config = dict(config)
        self.summary: dict[str, Any] = {}
        self.rows: dict[int, dict[str, Any]] = {}  # values by step
        self.series: set[str] = set()  # names in the rows that must not appear in the summary
        self.job = "train"
        self.host = "unknown"

    def add_row(self, step: int, values: Mapping[str, Any]) -> None:
        self.rows.setdefault(step, {}).update(values)


def _record_run(record: Mapping[str, Any]) -> _OfflineRun:
    """Run of one entry of `roentgen bench figures`, which tells settings and figures apart."""
    about = {key: record[key] for key in ("case", "date", "commit", "host", "cpu", "command")}
    run = _OfflineRun(f"{record['case']} {record['date']}", record["id"], {**record["settings"], **about})
    run.job, run.host = "bench", record["host"]
    run.summary = dict(record["figures"])
    for name, values in record["samples"].items():
        run.series.add(name)
        for step, value in enumerate(values):
            run.add_row(step, {name: value, "_timestamp": record["begin_s"]})
    return run


def _numbers(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {f"{prefix}/{key}": value for key, value in values.items()
            if isinstance(value, (int, float)) and key != "step"}


def _training_run(folder: pathlib.Path) -> _OfflineRun:
    """Run of a run folder. Its id stays the same if the training goes on."""
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    recipe = folder / "recipe.toml"
    text = recipe.read_text(encoding="utf-8") if recipe.is_file() else "\n"
    identity = hashlib.sha256("\n".join([text, *lines[:1]]).encode()).hexdigest()[:32]
    run = _OfflineRun(folder.name, identity, _native.recipe_table(text))
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            kind, step = entry["kind"], entry["step"]
        except (ValueError, KeyError, TypeError):
            _check.refuse("wandb", f"{folder / 'log.jsonl'}, line {number}", "a line of `roentgen train`",
                          _check.described(line), "the folder of a run", _native.DataError)
        run.add_row(step, _numbers(entry, kind))
        if entry.get("is_best"):
            run.summary = _numbers(entry, "best")
    return run


def _records_of(places: Sequence[str]) -> list[Mapping[str, Any]]:
    """Records in files and folders, as the program reads them. Without places: the default ledger."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "figures.json")
        done = subprocess.run([_PROGRAM, "bench", "figures", *places, "--json", file], capture_output=True, text=True)
        if done.returncode != 0:
            raise _native.DataError((done.stderr.strip().splitlines() or ["[python.wandb] roentgen failed"])[-1])
        with open(file, encoding="utf-8") as text:
            return json.load(text)["records"]


def _write(library: Any, run: _OfflineRun, out: pathlib.Path, project: str) -> str:
    """Writes a run, in place of an earlier one with the same id. Returns its folder."""
    earlier = list((out / "wandb").glob(f"offline-run-*-{run.id}"))
    # Without these settings, the run would describe the machine, code and output of this process.
    settings = library.Settings(silent=True, console="off", disable_git=True, disable_code=True, x_disable_meta=True,
                                x_disable_stats=True, x_save_requirements=False, host=run.host)
    session = library.init(project=project, dir=str(out), id=run.id, name=run.name, job_type=run.job, config=run.config,
                           mode="offline", reinit="create_new", settings=settings)
    for name in sorted(run.series):
        session.define_metric(name.replace(".", "\\."), summary="none")  # a dot would separate keys
    for step in sorted(run.rows):
        session.log(run.rows[step], step=step)
    session.summary.update(run.summary)
    files = pathlib.Path(session.dir)  # the folder `files` of the run
    session.finish()
    for folder in earlier:
        if folder.resolve() != files.parent.resolve():
            shutil.rmtree(folder)
    return str(files.parent)


@_check.arguments
def write_runs(places: Sequence[str | os.PathLike] = (), out: str | os.PathLike = ".", *,
               project: str = "roentgen") -> list[str]:
    """Writes benchmark records and training runs as offline runs of Weights & Biases.

    A run of a record has the settings as config, the figures as summary, and the raw samples as history. A run of a
    training has the recipe as config, the lines of log.jsonl as history, and the numbers of the best epoch as summary.
    A record or a run folder has the same id every time, and replaces what was written for it before.

    Args:
        places: Records, folders of records, and run folders. Empty: the default ledger.
        out: Folder in which the library creates the folder `wandb`.
        project: Project of the runs.

    Returns:
        The folders written, for `wandb sync`.

    Raises:
        ConfigError: The package wandb is not installed.
        DataError: No record and no run folder, or a damaged one.
    """
    library = _library()
    paths = [os.fspath(place) for place in places]
    folders = [pathlib.Path(os.path.abspath(path)) for path in paths if os.path.isfile(os.path.join(path, "log.jsonl"))]
    others = [path for path in paths if not os.path.isfile(os.path.join(path, "log.jsonl"))]
    runs = [_training_run(folder) for folder in folders]
    if others or not paths:
        runs += [_record_run(record) for record in _records_of(others)]
    target = pathlib.Path(os.path.abspath(os.fspath(out)))
    target.mkdir(parents=True, exist_ok=True)
    return [_write(library, run, target, project) for run in {run.id: run for run in runs}.values()]


def main() -> int:
    """Command line: python -m roentgen.wandb."""
    parser = argparse.ArgumentParser(prog="python -m roentgen.wandb", description=write_runs.__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", metavar="PLACE",
                        help="records, folders of records, run folders (default: the default --ledger)")
    parser.add_argument("--out", default=".", help="folder in which the folder wandb is created (default: .)")
    parser.add_argument("--project", default="roentgen", help="project of the runs (default: roentgen)")
    arguments = parser.parse_args()
    try:
        folders = write_runs(arguments.places, arguments.out, project=arguments.project)
    except (_native.Error, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(folders))
    return 0


if __name__ == "__main__":
    sys.exit(main())
