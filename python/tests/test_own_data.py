# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""A folder that nobody described, from the first call to the table of AUROCs."""
import shutil

import pytest

import roentgen
from conftest import run_program

SMALL = {"model.name": "resnet18", "model.width": 8, "model.stem": "small", "preprocess.size": 32, "train.epochs": 1,
         "train.batch": 16, "train.threads": 1, "train.workers": 1}


def dataset(*arguments, **options):
    with pytest.warns(UserWarning, match="1 image files in .* are not read"):
        return roentgen.Dataset(*arguments, **options)


@pytest.fixture(scope="module")
def recipe(own):
    return roentgen.init(own, settings={"data.patient": "PatNr"}, progress=False)


def test_the_table_is_found_before_the_dicom_files(own):
    data = dataset(own, labels=["fluid", "opacity"], patient="PatNr", views="frontal")
    assert data.source == "csv" and len(data) == 160
    assert repr(data).endswith("images=160, left_out=1)") and "image files that are not in the table: 1" in str(data)
    assert set(data.frame.view) == {"PA"}
    assert data.frame.patient.nunique() < 160
    with pytest.raises(roentgen.ConfigError, match="names of the label columns of befunde.csv.*fluid"):
        roentgen.Dataset(own)


def test_names_of_tables_say_the_splits(tmp_path):
    for name, images in {"train": range(6), "test": range(6, 8)}.items():
        rows = [f"{i}.png,p{i},{i % 2}" for i in images]
        (tmp_path / f"{name}.csv").write_text("\n".join(["path,patient,sick", *rows]))
        for i in images:
            (tmp_path / f"{i}.png").touch()
    data = roentgen.Dataset(tmp_path, labels=["sick"])
    assert list(data["test"].frame.image) == ["6.png", "7.png"]
    assert "names of the tables: test.csv for test, train.csv for train" in str(data)
    (tmp_path / "more.csv").write_text("path,patient,sick\n0.png,p0,1\n")
    with pytest.raises(roentgen.DataError, match="more.csv for none.*data.split=random"):
        roentgen.Dataset(tmp_path, labels=["sick"])


def test_a_proposed_recipe_says_how_to_read_the_folder(own, recipe, tmp_path):
    assert 'patient = "PatNr"' in recipe and 'csv = ["befunde.csv"]' in recipe
    assert "roentgen train --recipe recipe.toml" in recipe and "# Time    about" in recipe
    (tmp_path / "recipe.toml").write_text(recipe)
    data = dataset(own, recipe=recipe)
    assert data.labels == ["fluid", "opacity"] and len(data["test"]) > 0
    assert str(dataset(own, recipe=tmp_path / "recipe.toml")) == str(data)
    tables = pytest.importorskip("tomllib").loads(recipe)
    assert str(dataset(own, recipe=tables)) == str(data)
    assert str(dataset(own, **tables["data"])) == str(data)
    assert len(dataset(own, recipe=recipe, split="whole")["test"]) == 160
    assert dataset(own, recipe=recipe, labels=["fluid"], split="val").split == "val"
    with pytest.raises(roentgen.ConfigError, match="together with split_mode"):
        roentgen.Dataset(own, recipe=recipe, split="random", split_mode="given")


def test_a_run_knows_its_data_and_its_figures(own, recipe, tmp_path, capsys):
    run = roentgen.train(recipe, own, tmp_path / "run", settings=SMALL, progress=False)
    with pytest.warns(UserWarning):
        data = roentgen.Dataset(own, recipe=recipe)
    assert str(run.data()) == str(data)
    shutil.copytree(own, tmp_path / "moved")
    with pytest.raises(roentgen.DataError, match="no such folder"):
        run.evaluate("test", tmp_path / "nowhere")
    assert run.data(tmp_path / "moved")["test"].frame.image.equals(data["test"].frame.image)
    for split in ("test", "val"):
        text = run_program("eval", "--checkpoint", run.folder / "checkpoints" / "best.safetensors", "--data", own,
                           "--split", split, "--json", tmp_path / "told.json", "--threads", 1)
        given = run.evaluate(split, threads=1)
        assert {key: text[key] for key in given.figures} == given.figures
        assert given.table.auroc.notna().all()
    printed = run_program("eval", "--checkpoint", run.folder / "checkpoints" / "best.safetensors", "--data", own,
                          "--threads", 1)
    assert str(run.evaluate(threads=1)) == printed
    test = run.data()["test"].frame
    scores = run.model(threads=1).predict(list(test.path))
    again = roentgen.evaluate(test[["fluid", "opacity"]], scores.reset_index(drop=True), test.patient)
    assert again.table.equals(run.evaluate(threads=1).table[again.table.columns])


def test_scores_join_the_truth_where_base_names_come_twice(own, recipe, model):
    frame = dataset(own, recipe=recipe).frame[:6]
    assert frame.path.map(lambda path: path.rsplit("/")[-1]).nunique() == 3
    scores = model.predict(list(frame.path)[::-1])
    joined = frame.join(scores.add_suffix("_score"), on="path")
    assert list(scores.index) == list(frame.path)[::-1] and scores.index.name == "path"
    assert joined[f"{model.labels[0]}_score"].tolist() == scores[model.labels[0]].tolist()[::-1]
    below = model.predict(own / "site0")
    assert below.loc[frame.path[0]].equals(scores.loc[frame.path[0]])


def test_what_was_trained_on_is_refused_in_the_test(folder, run, tmp_path):
    swapped = tmp_path / "swapped"
    shutil.copytree(folder, swapped)
    (swapped / "test_list.txt").write_text((folder / "train_val_list.txt").read_text())
    (swapped / "train_val_list.txt").write_text((folder / "test_list.txt").read_text())
    with pytest.raises(roentgen.DataError, match="patients.*or allow_overlap=True to compute the metrics anyway$"):
        roentgen.Run(run).evaluate("test", swapped)
    assert roentgen.Run(run).evaluate("test", swapped, allow_overlap=True, threads=1).mean is not None
    with pytest.raises(roentgen.ConfigError, match="a run with a validated epoch"):
        roentgen.Run(tmp_path).evaluate()


def test_an_interrupt_ends_the_work(own, run, folder, interrupts, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        interrupts()
        roentgen.init(own, tmp_path / "recipe.toml", settings={"data.patient": "PatNr"})
    assert not (tmp_path / "recipe.toml").exists()


def test_an_interrupt_ends_predictions(run, folder, interrupts):
    model = roentgen.load(run, batch=8, threads=1, workers=1)
    with pytest.raises(KeyboardInterrupt):
        interrupts()
        model.predict(folder / "images")


def test_an_interrupt_ends_an_evaluation(run, interrupts):
    with pytest.raises(KeyboardInterrupt):
        interrupts()
        roentgen.Run(run).evaluate("train", batch=8, threads=1, workers=1)


def test_mistakes_are_told_at_once(own, tmp_path):
    with pytest.raises(roentgen.ConfigError, match="expected a file in an existing folder, got no folder"):
        roentgen.init(own, tmp_path / "none" / "recipe.toml")
    with pytest.raises(roentgen.DataError, match="no such folder"):
        roentgen.init(tmp_path / "none")
    with pytest.raises(roentgen.ConfigError, match="settings: expected a dict or None, got"):
        roentgen.init(own, settings=["data.csv=befunde.csv"])
    with pytest.raises(roentgen.ConfigError, match="settings: train.epochs: expected a key of"):
        roentgen.init(own, settings={"train.epochs": 3})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("mine")
    with pytest.raises(roentgen.ConfigError, match="a new or empty folder, or a run, got 1 other file"):
        roentgen.train("quickstart", own, tmp_path / "run", progress=False)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.txt"]
