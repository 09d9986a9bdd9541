# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import numpy
import pytest

import roentgen
from conftest import run_program


def test_is_what_the_program_lists(data, folder, tmp_path):
    told = run_program("inspect", "--data", folder, "--json", tmp_path / "told.json")
    text = run_program("inspect", "--data", folder)
    assert str(data) in text
    assert data.source == "nih"
    splits = told["data"]["splits"] if "data" in told else told["splits"]
    for split, summary in splits.items():
        assert len(data[split]) == summary["images"]
        for label, counts in summary["labels"].items():
            assert data.counts().loc[label, (split, "positives")] == counts["positives"]


def test_frame_has_a_row_an_image(data):
    frame = data.frame
    assert len(frame) == len(data) == 160
    assert list(frame.columns) == ["image", "path", "split", "patient", "view", "sex", "age", *data.labels]
    assert set(frame.split) == {"train", "val", "test"}
    assert frame[data.labels].isin([0, 1]).all(axis=None)
    assert len(data["val"].frame) == len(data["val"])


def test_patients_are_hashed_unless_asked(data):
    hashed, written = data.frame.patient, data.table(patients="written").patient
    assert set(written.str.isdecimal()) == {True}
    assert not set(hashed) & set(written)
    assert (hashed.groupby(written).nunique() == 1).all() and hashed.nunique() == written.nunique()
    assert (data.table(salt="a").patient == data.table(salt="a").patient).all()
    assert not set(data.table(salt="a").patient) & set(data.table(salt="b").patient)


def test_labels_and_options_are_those_of_a_recipe(folder):
    data = roentgen.Dataset(folder, labels=["Mass", "Nodule"], split="test", views="frontal")
    assert data.labels == ["Mass", "Nodule"]
    drawn = roentgen.Dataset(folder, split_mode="random", split_seed=3, test_fraction=0.5)
    assert len(drawn["test"]) > len(data)


def test_mistakes_are_one_line(folder, tmp_path):
    with pytest.raises(roentgen.DataError, match="no such folder"):
        roentgen.Dataset(tmp_path / "absent")
    with pytest.raises(roentgen.ConfigError, match="viewz"):
        roentgen.Dataset(folder, viewz="frontal")
    with pytest.raises(roentgen.ConfigError, match="expected train or val or test, got 'tset'"):
        roentgen.Dataset(folder, split="tset")
    with pytest.raises(roentgen.Error) as error:
        roentgen.Dataset(folder, labels=["Mas"])
    assert "\n" not in str(error.value)
    with pytest.raises(roentgen.ConfigError, match="expected a number, string, list or dict"):
        roentgen.Dataset(folder, views=object())


def test_labels_are_float32(data):
    assert data.frame[data.labels].dtypes.unique().tolist() == [numpy.float32]
