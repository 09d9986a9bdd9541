# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""A drawn data set and a network trained on it, by the installed program."""
import json
import shutil
import signal
import subprocess
import sys

import pytest

import roentgen

RECIPE = """
[model]
name = "resnet18"
width = 8
stem = "small"
[preprocess]
size = 32
[train]
epochs = 1
batch = 16
threads = 1
workers = 1
"""


def run_program(*arguments):
    """Runs `roentgen` with them; its JSON if `--json FILE` is among them."""
    done = subprocess.run([sys.executable, "-m", "roentgen", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "--json" in arguments:
        return json.loads(open(arguments[arguments.index("--json") + 1]).read())
    return done.stdout


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "phantoms"
    run_program("synth", path, "--images", 160, "--size", 48, "--seed", 5)
    return path


@pytest.fixture(scope="session")
def data(folder):
    return roentgen.Dataset(folder)


@pytest.fixture(scope="session")
def own(folder, tmp_path_factory):
    """A stranger's folder: a table with semicolons, names without endings, base names that come twice, a stray file."""
    path = tmp_path_factory.mktemp("own") / "xrays"
    frame = roentgen.Dataset(folder).table(patients="written")
    lines = ["file;PatNr;projection;fluid;opacity"]
    for i, row in enumerate(frame.itertuples()):
        place = path / f"site{i % 2}"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(row.path, place / f"{i // 2:03}.png")
        lines.append(f"site{i % 2}/{i // 2:03};P{row.patient};PA;{row.Effusion:.0f};{row.Mass:.0f}")
    (path / "befunde.csv").write_text("\n".join(lines) + "\n")
    (path / "scan.dcm").write_bytes(bytes(128) + b"DICM")
    return path


@pytest.fixture
def interrupts():
    """Signals that come every millisecond from its call on, the fourth of which raises KeyboardInterrupt. Signals that
    come while nobody looks at them count as one."""
    seen = []

    def handle(number, frame):
        seen.append(number)
        if len(seen) == 4:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handle)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def run(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    (path / "tiny.toml").write_text(RECIPE)
    run_program("train", "--recipe", path / "tiny.toml", "--data", folder, "--out", path / "run")
    return path / "run"


@pytest.fixture(scope="session")
def model(run):
    return roentgen.load(run, threads=1, workers=1)


@pytest.fixture(scope="session")
def ledger(tmp_path_factory):
    """A folder with one benchmark record."""
    path = tmp_path_factory.mktemp("ledger")
    run_program("bench", "short", "--model", "resnet18", "--image", 32, "--batch", 2, "--threads", 1, "--warmup", 1,
                "--steps", 3, "--ledger", path)
    return path
