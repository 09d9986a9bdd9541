# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Offline runs of Weights & Biases, by a stand-in that records the calls, and by the library if it is installed."""
import json
import pathlib
import struct
import subprocess
import sys
import types

import pytest

import roentgen
from roentgen import wandb


class StandIn(types.ModuleType):
    """Records the runs that it is asked to write."""

    def __init__(self):
        super().__init__("wandb")
        self.runs = []

    def Settings(self, **settings):
        return settings

    def init(self, **options):
        run = Session(options)
        self.runs.append(run)
        return run


class Session:
    def __init__(self, options):
        self.options = options
        folder = pathlib.Path(options["dir"]) / "wandb" / f"offline-run-{id(self)}-{options['id']}" / "files"
        folder.mkdir(parents=True)
        self.dir = str(folder)
        self.summary, self.rows, self.is_finished = {}, {}, False
        self.defined = {}

    def define_metric(self, name, summary):
        self.defined[name] = summary

    def log(self, values, step):
        assert step not in self.rows and all(step > before for before in self.rows)
        self.rows[step] = values

    def finish(self):
        self.is_finished = True


@pytest.fixture
def library(monkeypatch):
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "wandb", stand_in)
    return stand_in


def record_of(ledger):
    return json.loads(next(ledger.glob("*.json")).read_text())


def test_a_record_has_settings_figures_and_samples(ledger, library, tmp_path):
    folders = wandb.write_runs([ledger], tmp_path)
    (run,) = library.runs
    record = record_of(ledger)
    config = run.options["config"]
    assert (config["model"], config["batch"], config["case"]) == ("resnet18", 2, "short")
    assert (config["date"], config["commit"]) == (record["date"], record["commit"])
    assert "steps" not in config and "images_per_s" not in config
    assert run.summary["images_per_s"] == record["result"]["images_per_s"]
    assert [row["samples.step_s"] for row in run.rows.values()] == record["result"]["samples"]["step_s"]
    assert run.defined == {"samples\\.step_s": "none"}, "the last sample is no figure"
    assert run.options["mode"] == "offline" and run.options["settings"]["host"] == record["host"]
    assert run.is_finished and folders == [str(pathlib.Path(run.dir).parent)]


def test_samples_of_rows_have_the_name_of_the_row(library, tmp_path):
    result = {"case": "short", "points": [{"ranks": 1, "images_per_s": 2.0, "samples": {"step_s": [0.5]}},
                                          {"ranks": 2, "images_per_s": 3.0, "samples": {"step_s": [0.6, 0.7]}}]}
    record = {"schema": "roentgen-bench-record/1", "date": "2026-11-27T18:43:20Z", "host": "0123456789ab",
              "commit": "abc", "command": ["roentgen", "bench", "short"], "case": "short", "result": result}
    (tmp_path / "record.json").write_text(json.dumps(record))
    wandb.write_runs([tmp_path / "record.json"], tmp_path)
    (run,) = library.runs
    assert run.summary == {"points(ranks=1) images_per_s": 2.0, "points(ranks=2) images_per_s": 3.0}
    assert run.rows[0]["points(ranks=1) samples.step_s"] == 0.5
    assert run.rows[1] == {"points(ranks=2) samples.step_s": 0.7, "_timestamp": 1795805000.0}


def test_a_training_has_its_recipe_every_update_and_the_best_epoch(run, library, tmp_path):
    wandb.write_runs([run], tmp_path)
    (written,) = library.runs
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    updates = [line for line in lines if line["kind"] == "step"]
    (epoch,) = [line for line in lines if line["kind"] == "epoch"]
    assert written.options["config"]["train"]["batch"] == 16
    assert [row["step/loss"] for row in written.rows.values()] == [update["loss"] for update in updates]
    assert written.rows[epoch["step"]]["epoch/val_loss"] == epoch["val_loss"]
    assert written.summary["best/val_loss"] == epoch["val_loss"]


def test_a_second_call_replaces_what_the_first_wrote(ledger, run, library, tmp_path):
    first = wandb.write_runs([ledger, run], tmp_path)
    second = wandb.write_runs([run, ledger, ledger], tmp_path)
    assert {one.options["id"] for one in library.runs[:2]} == {one.options["id"] for one in library.runs[2:]}
    assert len(library.runs) == 4 and len(second) == 2
    assert {str(path) for path in (tmp_path / "wandb").iterdir()} == set(second)
    assert not set(first) & set(second)


def test_a_training_that_goes_on_keeps_its_id(run, library, tmp_path):
    longer = tmp_path / "moved"
    longer.mkdir()
    for name in ("recipe.toml", "log.jsonl"):
        (longer / name).write_text((run / name).read_text())
    with open(longer / "log.jsonl", "a", encoding="utf-8") as log:
        log.write('{"kind": "step", "step": 1000, "loss": 0.5}\n')
    wandb.write_runs([run, longer], tmp_path)  # one run, as both have the same id; the later folder is written
    (written,) = library.runs
    assert written.rows[1000] == {"step/loss": 0.5}


def test_what_is_no_record_and_no_run_is_refused_before_anything_is_written(run, library, tmp_path):
    with pytest.raises(roentgen.DataError, match=r"^\[[^\n]*nothing[^\n]*$"):
        wandb.write_runs([run, tmp_path / "nothing"], tmp_path)
    (tmp_path / "log.jsonl").write_text('{"kind": "step"}\n')
    with pytest.raises(roentgen.DataError, match=r"^\[python.wandb\][^\n]*log.jsonl, line 1: expected a line of"):
        wandb.write_runs([tmp_path], tmp_path)
    assert library.runs == []


@pytest.mark.parametrize("module", ["None", "types.ModuleType('wandb')"])  # the latter: a folder ./wandb was imported
def test_without_the_library_one_line_says_how_to_install_it(module, ledger, tmp_path):
    script = f"import sys, types; sys.modules['wandb'] = {module}; from roentgen import wandb; sys.exit(wandb.main())"
    done = subprocess.run([sys.executable, "-c", script, str(ledger), "--out", str(tmp_path)], capture_output=True,
                          text=True)
    assert done.returncode == 2
    assert done.stderr == ("[python.wandb] library: expected the Python package wandb, got none; "
                           "try `pip install wandb`\n")
    assert list(tmp_path.iterdir()) == []


def entries_of(file):
    """Entries of a file of W&B: a header of 7 bytes, then blocks of 32 KiB as in LevelDB's log format."""
    from wandb.proto import wandb_internal_pb2

    data, at, whole = file.read_bytes(), 7, b""
    assert data[:4] == b":W&B"
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", data[at:at + 7])
        whole += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # complete, or the last part
            entry = wandb_internal_pb2.Record()
            entry.ParseFromString(whole)
            whole = b""
            yield entry


def test_the_library_writes_the_figures(ledger, run, tmp_path):
    pytest.importorskip("wandb", reason="wandb is not installed: its files were not tested")
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-m", "roentgen.wandb", ledger, run, "--out", out], capture_output=True,
                          text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    training, bench = (pathlib.Path(line) for line in done.stdout.splitlines())
    record = record_of(ledger)
    config, summary, samples = {}, {}, []
    for entry in entries_of(next(bench.glob("run-*.wandb"))):
        config.update({one.key: json.loads(one.value_json) for one in entry.run.config.update})
        summary.update({".".join(one.nested_key) or one.key: json.loads(one.value_json) for one in entry.summary.update})
        samples += [json.loads(one.value_json) for one in entry.history.item if "samples.step_s" in one.nested_key]
    assert (config["model"], config["batch"], config["date"]) == ("resnet18", 2, record["date"])
    assert summary["images_per_s"] == pytest.approx(record["result"]["images_per_s"])
    assert samples == pytest.approx(record["result"]["samples"]["step_s"])
    assert "samples.step_s" not in summary
    best = [json.loads(one.value_json) for entry in entries_of(next(training.glob("run-*.wandb")))
            for one in entry.summary.update if one.key == "best/val_loss"]
    assert len(best) == 1
