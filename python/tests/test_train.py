# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import pathlib

import pandas
import pytest

import roentgen
from conftest import RECIPE, run_program

TINY = {"model": {"name": "resnet18", "width": 8, "stem": "small"}, "preprocess": {"size": 32},
        "train": {"epochs": 2, "batch": 16, "threads": 1, "workers": 1}}


def bytes_of(folder):
    return (pathlib.Path(folder) / "checkpoints" / "best.safetensors").read_bytes()


def tensors_of(folder):
    data = bytes_of(folder)
    return data[8 + int.from_bytes(data[:8], "little"):]


def test_weights_are_the_program_s_bit_for_bit(folder, run, tmp_path):
    (tmp_path / "tiny.toml").write_text(RECIPE)
    mine = roentgen.train(tmp_path / "tiny.toml", folder, tmp_path / "run", progress=False)
    assert tensors_of(mine.folder) == tensors_of(run)
    table = {section: dict(values) for section, values in TINY.items()}
    table["train"]["epochs"] = 1
    other = roentgen.train(table, folder, tmp_path / "other", progress=False)
    assert tensors_of(other.folder) == tensors_of(run)


def test_records_and_what_is_left(folder, tmp_path, capsys):
    records = []
    run = roentgen.train(TINY, folder, tmp_path / "run", callbacks=records.append)
    kinds = [record["kind"] for record in records]
    assert kinds[0] == "data" and kinds.count("epoch") == 2 and kinds.count("step") == records[-1]["step"]
    assert run.outcome["finished"] is True
    assert list(run.history.epoch) == [0, 1]
    assert isinstance(run.aurocs, pandas.Series) and len(run.aurocs) >= 14
    assert run.model(threads=1).labels == roentgen.Dataset(folder).labels
    assert "epoch 2: loss" in capsys.readouterr().out


def test_an_error_in_a_callback_saves_and_resumes_bit_for_bit(folder, tmp_path):
    def stop(record):
        if record["kind"] == "step" and record["step"] == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        roentgen.train(TINY, folder, tmp_path / "run", callbacks=stop, progress=False)
    assert (tmp_path / "run" / "checkpoints" / "resume.safetensors").exists()
    roentgen.train(out=tmp_path / "run", resume=True, progress=False)
    roentgen.train(TINY, folder, tmp_path / "whole", progress=False)
    assert tensors_of(tmp_path / "run") == tensors_of(tmp_path / "whole")


def test_a_run_without_an_epoch_says_so(folder, tmp_path):
    def stop(record):
        if record["kind"] == "step":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        roentgen.train(TINY, folder, tmp_path / "run", callbacks=stop, progress=False)
    stopped = roentgen.Run(tmp_path / "run")
    assert stopped.history.empty
    with pytest.raises(roentgen.DataError, match="expected a file of a run with a finished epoch, got no file"):
        stopped.aurocs


def test_settings_and_names_of_recipes(folder, tmp_path):
    assert "chest" in roentgen.recipes()["default"] and "densenet121" in roentgen.recipe("default")
    assert "resnet18" in [model["name"] for model in roentgen.models()]
    with pytest.raises(roentgen.ConfigError, match="one of .*default"):
        roentgen.train("defualt", folder, tmp_path / "run")
    with pytest.raises(roentgen.ConfigError, match="train.epoch"):
        roentgen.train(TINY, folder, tmp_path / "run", settings={"train.epoch": 1}, progress=False)
    run = roentgen.train(TINY, folder, tmp_path / "run", settings={"train.epochs": 1}, progress=False)
    assert len(run.history) == 1
    with pytest.raises(roentgen.ConfigError, match="a new or empty folder"):
        roentgen.train(TINY, folder, tmp_path / "run", progress=False)
    roentgen.train(TINY, folder, tmp_path / "run", settings={"train.epochs": 1}, overwrite=True, progress=False)


def test_device_and_type_are_settings_and_of_an_evaluation(folder, tmp_path):
    with pytest.raises(roentgen.ConfigError, match="f32, bf16 or auto on the device cpu, got f16"):
        roentgen.train(TINY, folder, tmp_path / "run", device="cpu", dtype="f16", progress=False)
    run = roentgen.train(TINY, folder, tmp_path / "run", settings={"train.epochs": 1}, device="cpu", dtype="bf16",
                         progress=False)
    recipe = (tmp_path / "run" / "recipe.toml").read_text()
    assert '\ndevice = "cpu"' in recipe and '\ndtype = "bf16"' in recipe
    assert run.evaluate("val", replicates=0, device="cpu", dtype="auto").figures["dtype"] == "f32"
    with pytest.raises(roentgen.ConfigError, match="dtype: expected f32 or auto on the device cpu, got bf16"):
        run.evaluate("val", device="cpu", dtype="bf16")


def test_mistakes_leave_nothing_behind(folder, tmp_path):
    with pytest.raises(roentgen.ConfigError, match="outside the data folder"):
        roentgen.train(TINY, folder, folder / "run", progress=False)
    with pytest.raises(roentgen.DataError):
        roentgen.train(TINY, tmp_path / "absent", tmp_path / "run", progress=False)
    with pytest.raises(roentgen.ConfigError, match="a data folder"):
        roentgen.train(TINY, None, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_recipe_is_proposed_for_a_folder(folder, tmp_path, capsys):
    text = roentgen.init(folder, tmp_path / "recipe.toml")
    assert (tmp_path / "recipe.toml").read_text() == text and "# Time" in text
    assert "images/s" in capsys.readouterr().out
    with pytest.raises(roentgen.ConfigError, match="an existing file"):
        roentgen.init(folder, tmp_path / "recipe.toml")
    run = roentgen.train(tmp_path / "recipe.toml", folder, tmp_path / "run", settings={"train.epochs": 1}, progress=False)
    assert len(run.history) == 1
