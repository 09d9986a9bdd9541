# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Every Python block of the guides runs, in its page's order, with a small data set and short trainings."""
import importlib.util
import pathlib
import re

import numpy
import pytest

import roentgen

GUIDES = pathlib.Path(__file__).resolve().parents[2] / "docs/guide"
SHORT = {"preprocess.size": 64, "model.width": 8, "train.epochs": 1, "train.batch": 16, "train.threads": 1,
         "train.workers": 1}


@pytest.fixture
def place(folder, tmp_path, monkeypatch):
    """A working directory with the folder that guides speak of; trainings are short."""
    frame = roentgen.Dataset(folder).frame
    table = frame[["view", "age", "Cardiomegaly", "Effusion", "Edema"]].copy()
    table.insert(0, "file", ["scans/" + pathlib.Path(path).name for path in frame.path])
    table.insert(1, "patient_id", frame.patient)
    (tmp_path / "my_xrays").mkdir()
    (tmp_path / "my_xrays/scans").symlink_to(folder / "images")
    table.to_csv(tmp_path / "my_xrays/findings.csv", index=False)
    monkeypatch.chdir(tmp_path)
    train = roentgen.train
    monkeypatch.setattr(roentgen, "train", lambda recipe, data, out, settings=None, **more:
                        train(recipe, data, out, settings={**(settings or {}), **SHORT}, **more))
    init = roentgen.init
    monkeypatch.setattr(roentgen, "init", lambda *words, **more: init(*words, **{"progress": False, **more}))
    return tmp_path


def variables():
    """Names that a page takes for granted: truth, scores of two models and patients."""
    random = numpy.random.default_rng(1)
    y = random.integers(0, 2, (60, 2))
    scores = {name: random.random((60, 2)) for name in ("scores", "scores_a", "scores_b")}
    return {"y": y, "patients": numpy.arange(60) // 2, **scores}


@pytest.mark.parametrize("name", ["python.md", "pytorch_loader.md", "own_data.md"])
def test_the_blocks_of_a_guide_run(name, place):
    if name == "pytorch_loader.md" and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch")
    blocks = re.findall(r"^```python\n(.*?)^```", (GUIDES / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    seen = {}
    for block in blocks:
        if "scores_a" in block:
            seen.update(variables())
        exec(compile(block, name, "exec"), seen)  # names of one block are used by the next
