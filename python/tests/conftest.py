# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""A drawn data set and a network trained on it, by the installed program."""
import json
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
def run(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    (path / "tiny.toml").write_text(RECIPE)
    run_program("train", "--recipe", path / "tiny.toml", "--data", folder, "--out", path / "run")
    return path / "run"


@pytest.fixture(scope="session")
def model(run):
    return roentgen.load(run, threads=1, workers=1)
