# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Wrong arguments: each call, and the line that names what is wrong."""
import copy
import dataclasses
import os
import pathlib
import pickle
import pydoc
import re
import subprocess
import sys

import numpy
import pandas
import pytest

import roentgen

Y, S, P = numpy.arange(40).reshape(20, 2) % 2, numpy.linspace(0, 1, 40).reshape(20, 2), list(range(20))
FRAME = pandas.DataFrame(S, columns=["A", "B"])
NEAR = "expected a whole number below 2**63, got"

LOADER = [
    ({"batch": "16"}, f"[python.loader] batch: {NEAR} '16'; try batch=64"),
    ({"batch": None}, f"[python.loader] batch: {NEAR} None; try batch=64"),
    ({"batch": 1.5}, f"[python.loader] batch: {NEAR} 1.5; try batch=64"),
    ({"batch": True}, f"[python.loader] batch: {NEAR} True; try batch=64"),
    ({"batch": 0}, "[python.loader] batch: expected a number from 1 to 1048576, got 0; try another number"),
    ({"seed": 2**64}, f"[python.loader] seed: {NEAR} a number of 65 bits; try seed=0"),
    ({"seed": 10**5000}, f"[python.loader] seed: {NEAR} a number of 16610 bits; try seed=0"),
    ({"seed": -1}, "[python.loader] seed: expected a number of at least 0, got -1; try another number"),
    ({"size": "64"}, f"[python.loader] size: {NEAR} '64'; try size=224"),
    ({"size": 0}, "[data.preprocess] size: expected 1 to 16384 pixels, got 0; "),
    ({"channels": "3"}, "[python.loader] channels: expected a whole number below 2**63 or None, got '3'; try another value"),
    ({"preset": None}, "[python.loader] preset: expected a string, got None; try preset='xray'"),
    ({"preprocess": "xray"}, "[python.loader] preprocess: expected a dict or None, got 'xray'; try another value"),
    ({"preprocess": {"size": "big"}, "size": 224}, "[data.preprocess] size: expected"),
    ({"preprocess": {"size": 32}}, "[python.loader] preprocess: expected no other size, channels or preset, got both; "),
    ({"augment": "rotate"}, "[python.loader] augment: expected a dict or None, got 'rotate'; try another value"),
    ({"augment": {"rotate": "x"}}, "[data.augment] rotate: expected"),
    ({"augment": {"rotate": object()}}, "[python.values] rotate: expected a number, string, list or dict, got object; "),
    ({"rank": 2, "ranks": 2}, "[python.loader] rank: expected a number from 0 to 1, got 2; try another number"),
    ({"workers": "many"}, "[python.loader] workers: expected a number from 1 to 1024 or auto, got 'many'; "),
    ({"workers": -1}, "[python.loader] workers: expected a number from 0 to 1024, got -1; try another number"),
    ({"dtype": numpy.float32}, "[python.loader] dtype: expected a string, got an object of type type; "),
    ({"dtype": "float16"}, '[python.loader] dtype: expected "float32" or "uint8", got float16; '),
    ({"device": 0}, "[python.loader] device: expected a string, got 0; try device='cpu'"),
    ({"device": "cuda"}, "[python.loader] device: expected cpu, got cuda; "),
    ({"shuffle": "yes"}, "[python.loader] shuffle: expected True or False or None, got 'yes'; try another value"),
    ({"tail": "foo"}, "[data.shard] tail: expected one of pad, drop, wrap, got foo; try the setting train.tail=drop"),
    ({"framework": "mxnet"}, "[python.loader] framework: expected torch or numpy or jax, got 'mxnet'; "),
    ({"max_bad": -1}, "[python.loader] max_bad: expected a fraction from 0 to 1, got -1; try 0.01"),
    ({"max_bad": float("nan")}, "[python.loader] max_bad: expected a fraction from 0 to 1, got nan; try 0.01"),
    ({"max_bad": "x"}, "[python.loader] max_bad: expected a number, got 'x'; try max_bad=0.001"),
]
SCORES = [
    ((None, S), {}, "[python.scores] y: expected an array (N, K) or (N), got None; "),
    (([], []), {}, "[python.scores] y: expected an array (N, K) or (N), got an array of shape (0, 1); "),
    (([[1, 0], [1]], S), {}, "[python.scores] y: expected rows of equal length, got rows of different lengths; "),
    ((Y[:10], S), {}, "[python.scores] scores: expected as many rows and columns as y, (10, 2), got (20, 2); "),
    ((Y, S + 0j), {}, "[python.scores] scores: expected real numbers, got values of type complex128; "),
    ((Y, S.astype(str)), {}, "[python.scores] scores: expected real numbers, got text or other objects; "),
    ((Y.astype(str), S), {}, "[python.scores] y: expected real numbers, got text or other objects; "),
    ((pandas.DataFrame({"A": ["x"] * 20, "B": 1}), FRAME), {}, "[python.scores] y: expected real numbers, got text or "),
    ((Y, numpy.where(S == S[3, 1], numpy.nan, S)), {},
     "[python.scores] scores, row 3: expected finite numbers, got [0.15384615384615385, nan]; try removing such rows from y and scores"),
    ((Y * 0.5, S), {}, "[python.scores] y, row 0: expected 1, 0 or NaN, got 0.5"),
    ((Y, S, P[:-1]), {}, "[python.scores] patients: expected 20 values, one per row, got 19 in [0, 1, 2, ...]"),
    ((Y, S, "patient"), {}, "[python.scores] patients: expected 20 values, one per row, got 1 in 'patient'; "),
    ((Y, S, P, "ab"), {}, "[python.scores] labels: expected a list of strings or None, got 'ab'; try labels=['ab']"),
    ((Y, S, P, ["a"]), {}, "[python.scores] labels: expected 2 names, one per column, got 1; try a name for each column"),
    ((Y, S), {"metrics": "auprc"}, "[python.scores] metrics: expected a list of strings, got 'auprc'; try metrics=['auprc']"),
    ((Y, S), {"metrics": ["aucpr"]}, "[python.scores] metrics: expected a metric that needs no threshold, got aucpr; try one or more of auprc"),
    ((Y, S * 2), {"metrics": ["auprc", "brier"]},
     "[python.scores] scores, row 10: expected probabilities from 0 to 1 for the metric brier, got 1.0256"),
    ((Y, S), {"replicates": "10"}, f"[python.scores] replicates: {NEAR} '10'; try replicates=1000"),
    ((Y, S), {"replicates": -1}, "[python.scores] replicates: expected a number from 0 to 1000000, got -1; "),
    ((Y, S), {"seed": -1}, "[python.scores] seed: expected a number of at least 0, got -1; "),
    ((Y, S), {"exclusive": "no"}, "[python.scores] exclusive: expected True or False, got 'no'; try exclusive=False"),
    ((Y, S), {"exclusive": True}, "[python.scores] exclusive: expected one true label in each row, and scores that sum to "
     "1, got 1 true labels and a sum of 0.02564 in row 0; try exclusive=False"),
    ((pandas.DataFrame(Y, columns=["A", "C"]), FRAME), {},
     "[python.scores] columns of y: expected the columns of scores, got without B and with C; try labels=[...]"),
    ((FRAME.round(), FRAME), {"labels": ["A", "Q"]}, "[python.scores] columns of scores: expected the columns of labels, got without Q; "),
    ((FRAME.round(), FRAME.set_axis(["A", "A"], axis=1)), {}, "[python.scores] columns of scores: expected different names, got equal names; "),
    ((FRAME.round(), FRAME.set_index(pandas.Index([f"{i}.png" for i in P]))), {},
     "[python.scores] index of scores: expected the index of y, got 0, 1, 2, ... in y and another index in scores; try one index for "
     "both, or .reset_index(drop=True) for both if their rows are in the same order"),
    ((FRAME.round().set_axis(range(1, 21)), S, pandas.Series(P, index=range(2, 22))), {},
     "[python.scores] index of patients: expected the 20 rows of y, got 1 missing and 1 other rows; "),
    ((FRAME.round()[::-1], FRAME[::-1].reset_index(drop=True)), {},
     "[python.scores] index of scores: expected the index of y, got 0, 1, 2, ... in scores and another index in y; "),
    ((Y, S), {"labels": {"A", "B"}}, "[python.scores] labels: expected a list of strings or None, got an object of type set; "),
]
OTHERS = [
    (lambda: roentgen.Dataset(123), "[python.dataset] path: expected a path or a list of paths, got 123; try another value"),
    (lambda: roentgen.Dataset([None]), "[python.dataset] path: expected a path or a list of paths, got [None]; "),
    (lambda: roentgen.Dataset("x", labels="Mass"), "[python.dataset] labels: expected a list of strings or None, got 'Mass'; try labels=['Mass']"),
    (lambda: roentgen.Dataset("x", split_seed=2**70), "[python.values] split_seed: expected a 64-bit number, got a larger number; "),
    (lambda: roentgen.Dataset("no\0x"), "[data.source] "),
    (lambda: roentgen.Loader("x"), "[python.loader] dataset: expected a Dataset, got 'x'; try roentgen.Dataset('x')"),
    (lambda: roentgen.load(None), "[python.model] checkpoint: expected a path, got None; try another value"),
    (lambda: roentgen.load("x", labels="abc"), "[python.model] labels: expected a list of strings, got 'abc'; try labels=['abc']"),
    (lambda: roentgen.load("x", batch="x"), f"[python.model] batch: {NEAR} 'x'; try batch=32"),
    (lambda: roentgen.load("x", device=0), "[python.model] device: expected a string, got 0; try device='auto'"),
    (lambda: roentgen.load("x", dtype=16), "[python.model] dtype: expected a string, got 16; try dtype='f32'"),
    (lambda: roentgen.train(data="x", device="cpu", settings={"train.device": "cpu"}),
     "[python.train] device: expected one value, got two: 'cpu' and the setting train.device; try one of the two"),
    (lambda: roentgen.train(data="x", dtype=16), "[python.train] dtype: expected a string or None, got 16; "),
    (lambda: roentgen.load("x", device="gpu"), "[engine.device] device: expected auto, cpu, cuda or cuda:N, got gpu; "),
    (lambda: roentgen.train(3, "x"), "[python.train] recipe: expected a path or a dict, got 3; try recipe='default'"),
    (lambda: roentgen.train(data=3), "[python.train] data: expected a path or a list of paths or None, got 3; try another value"),
    (lambda: roentgen.train(data="x", out=None), "[python.train] out: expected a path, got None; try out='run'"),
    (lambda: roentgen.train(data="x", settings="train.epochs=1"), "[python.train] settings: expected a dict or None, got 'train.epochs=1'; "),
    (lambda: roentgen.train(data="x", callbacks=["x"]), "[python.train] callbacks: expected a function or a list of functions, got ['x']; "),
    (lambda: roentgen.train(data="x", progress=3), "[python.train] progress: expected True or False, got 3; try progress=True"),
    (lambda: roentgen.Loader(pathlib.Path("x")), "[python.loader] dataset: expected a Dataset, got PosixPath('x'); try roentgen.Dataset("),
    (lambda: roentgen.Run("x"), "[python.run] folder: expected the folder of a run, got 'x', which is no folder; try the folder"),
    (lambda: roentgen.init(None), "[python.train] path: expected a path, got None; try another value"),
    (lambda: roentgen.recipe(3), "[python.train] name: expected a path, got 3; try another value"),
    (lambda: roentgen.set_log_level(3), "[python.roentgen] level: expected a string, got 3; try another value"),
    (lambda: roentgen.set_log_level("loud"), "[python.log] level: expected a known name, got loud; "),
]


def message_of(call, *arguments, **options):
    with pytest.raises(roentgen.Error) as error:
        call(*arguments, **options)
    text = str(error.value)
    assert "\n" not in text and "--" not in re.sub(r"roentgen train --keys", "", text) and len(text) < 400
    return text


@pytest.mark.parametrize("options, message", LOADER, ids=range(len(LOADER)))
def test_loader(data, options, message):
    assert message_of(roentgen.Loader, data["train"], **{"batch": 16, "size": 32, **options}).startswith(message)


@pytest.mark.parametrize("arguments, options, message", SCORES, ids=range(len(SCORES)))
def test_evaluate(arguments, options, message):
    assert message_of(roentgen.evaluate, *arguments, **options).startswith(message)


@pytest.mark.parametrize("call, message", OTHERS, ids=range(len(OTHERS)))
def test_others(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message_of(call).startswith(message)
    assert os.listdir(tmp_path) == []


def test_load(run):
    for options, message in (({"batch": 0}, "batch: expected a number from 1 to 1048576, got 0"),
                             ({"threads": -1}, "threads: expected a number from 0 to 4096, got -1"),
                             ({"workers": -1}, "workers: expected a number from 0 to 4096, got -1")):
        assert message in message_of(roentgen.load, run, **options)


def test_train(folder, tmp_path):
    text = roentgen.recipe("default") + "\n[tain]\nepochs = 1\n"
    assert message_of(roentgen.train, text, folder, tmp_path / "run").startswith("[train.recipe] recipe: ")
    assert "train.epochs" not in message_of(roentgen.train, "[train]\nepochs = \n", folder, tmp_path / "run")
    settings = {"train.epochs.x": 1}
    assert "epochs: expected a table" in message_of(roentgen.train, "default", folder, tmp_path / "run", settings=settings)
    assert not (tmp_path / "run").exists()


def test_an_unknown_argument_is_a_type_error_as_of_any_function(data):
    with pytest.raises(TypeError, match=r"Loader.__init__\(\) got an unexpected keyword argument 'batch_size'"):
        roentgen.Loader(data, batch_size=16)


@pytest.mark.parametrize("split", ["Train", "", "none", 0, None], ids=str)
def test_splits(data, split):
    with pytest.raises(KeyError, match=r"is no split; splits are train \(\d+ images\), val \(\d+ images\), test \(\d+ images\)"):
        data[split]


def test_a_framework_that_is_not_installed(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert "framework: expected an installed framework, got jax" in message_of(roentgen.Loader, data, framework="jax")


def test_epochs_and_states(data):
    loader = roentgen.Loader(data["train"], batch=16, size=32, seed=3)
    state = loader.state_dict()
    assert message_of(loader.set_epoch, "a").startswith(f"[python.loader] epoch: {NEAR} 'a'; ")
    assert message_of(loader.set_epoch, -1).startswith("[python.loader.state] epoch: expected a number from 0 to 4294967294")
    for wrong, message in ((None, "[python.loader] state: expected a dict, got None; "),
                           ({}, "[python.loader] state, version: expected 2 of this loader, got None; "),
                           ({**state, "epoch": "1"}, "[python.loader.state] epoch: expected a whole number, got string; "),
                           ({**state, "seen": [10**6]}, "[python.loader.state] seen: expected a number from 0 to 159"),
                           ({**state, "tail": None}, "[python.loader.state] tail: expected text, got nothing; ")):
        assert message_of(loader.load_state_dict, wrong).startswith(message)
    for options, message in (({"seed": 1}, "state, seed: expected 1 of this loader, got 3"),
                             ({"size": 64}, "state, preprocess.size: expected 64 of this loader, got 32"),
                             ({"shuffle": False}, "state, shuffle: expected False of this loader, got True"),
                             ({"augment": {"flip": 0.5}}, "state, augment.flip: expected 0.5 of this loader, got 0.0"),
                             ({"dtype": "uint8"}, "state, dtype: expected uint8 of this loader, got float32")):
        other = roentgen.Loader(data["train"], **{"batch": 16, "size": 32, "seed": 3, **options})
        assert message in message_of(other.load_state_dict, state)
    other = roentgen.Loader(data["val"], batch=16, size=32, seed=3, shuffle=True, tail="wrap")
    assert "state, images: expected the images of this loader, got other images" in message_of(other.load_state_dict, state)
    # A dict that says the same in other words is the same.
    roentgen.Loader(data["train"], batch=16, preprocess={"size": 32}, seed=3).load_state_dict(state)


def test_pictures(model, tmp_path):
    image = pytest.importorskip("PIL.Image")
    gray = numpy.random.default_rng(0).integers(0, 255, (40, 50), numpy.uint8)
    expected = model.predict(gray).to_numpy()
    picture = image.fromarray(gray)
    assert (model.predict(picture).to_numpy() == expected).all()
    assert (model.predict([picture, gray]).to_numpy() == expected).all()
    assert (model.predict((gray.astype(">u2") * 257)).to_numpy() == model.predict(gray.astype("u2") * 257).to_numpy()).all()
    picture.save(tmp_path / "p.png")
    assert (model.predict(pandas.Series([str(tmp_path / "p.png")])).to_numpy() == expected).all()
    colour = image.fromarray(numpy.stack([gray] * 3, -1))
    assert numpy.abs(model.predict(colour).to_numpy() - expected).max() < 1e-6
    for wrong, message in ((None, "images: expected files, folders or arrays, got None"), (3, "images: expected files"),
                           ([], "images: expected at least one image, got none"),
                           (numpy.zeros((0, 8, 8), "u1"), "images: expected at least one image, got none"),
                           (b"x.png", "images[0]: expected gray levels"),
                           ([gray, "x.png"], "images[1]: expected gray levels (H, W) or colours (H, W, 3) of type uint8 or "),
                           (["x.png", gray], "images[1]: expected a path, like the first image, got ndarray of shape (40, 50) and type uint8"),
                           (gray / 255, "images[0]: expected gray levels (H, W) or colours (H, W, 3) of type uint8 or uint16, "
                            "got ndarray of shape (40, 50) and type float64"),
                           (gray[0], "images[0]: expected gray levels"), (gray[:0], "images[0]: expected gray levels"),
                           (picture.convert("P"), "images[0]: expected a Pillow image of mode L, I;16 or RGB, got mode P"),
                           (picture.convert("RGBA"), "got mode RGBA; try image.convert")):
        assert message in message_of(model.predict, wrong)


def test_heatmaps_and_exports(model, folder, tmp_path):
    file = folder / "images" / sorted(os.listdir(folder / "images"))[0]
    assert message_of(model.heatmap, numpy.zeros((8, 8)), "Mass").startswith("[python.model] path: expected a path, got ")
    assert message_of(model.heatmap, file, 0).startswith("[python.model] finding: expected a string, got 0; ")
    heat = model.heatmap(file, "Mass")
    assert heat == heat and heat != model.heatmap(file, "Mass")
    assert "expected a file name that ends in .png, got '" in message_of(heat.save, tmp_path / "x.jpg")
    assert "expected a file that can be written, got" in message_of(heat.save, tmp_path / "absent" / "x.png")
    assert message_of(model.export_onnx, None).startswith("[python.model] out: expected a path, got None; ")
    assert "opset 17" in message_of(model.export_onnx, tmp_path / "m.onnx", opset=99)
    assert os.listdir(tmp_path) == []


def test_rows_meet_by_index_and_columns_by_name():
    truth = pandas.DataFrame(numpy.random.default_rng(0).random((60, 2)) < 0.5, columns=["A", "B"]).astype(float)
    scores = truth + numpy.random.default_rng(1).normal(size=truth.shape)
    truth.index = [f"{i}.png" for i in range(60)]
    scores.index = truth.index
    patients = pandas.Series(numpy.arange(60) // 2, index=truth.index)
    expected = roentgen.evaluate(truth, scores, patients, replicates=50).figures
    mixed = scores.sample(frac=1, random_state=0)
    assert roentgen.evaluate(truth, mixed, patients.sample(frac=1, random_state=1), replicates=50).figures == expected
    swapped = roentgen.evaluate(truth[["B", "A"]], mixed, patients, replicates=50)
    assert swapped.figures == expected
    assert roentgen.compare(truth, scores, mixed, replicates=0).table.delta.abs().max() == 0
    with pytest.raises(roentgen.ShapeError, match="columns of scores_b: expected the columns of scores_a, got without A and with X"):
        roentgen.compare(truth, scores, scores.rename(columns={"A": "X"}))
    one = roentgen.evaluate(truth, scores, labels=["B"], replicates=0)
    assert one.table.auroc["B"] == expected["auroc"]["labels"]["B"]["auroc"] and len(one.table) == 1


@pytest.mark.parametrize("kind", ["Int64", "boolean", "object", "list", "masked"])
def test_unknown_truth_of_every_kind(kind):
    truth = numpy.arange(60).reshape(30, 2) // 2 % 2
    known = truth.astype(float)
    known[3, 0] = numpy.nan
    scores = numpy.random.default_rng(0).random((30, 2))
    expected = roentgen.evaluate(known, scores, replicates=0).figures
    if kind == "masked":
        given = numpy.ma.masked_array(truth, mask=numpy.isnan(known))
    elif kind == "list":
        given = [[None if numpy.isnan(value) else int(value) for value in row] for row in known]
    else:
        given = pandas.DataFrame(known, columns=["label 1", "label 2"]).astype("object" if kind == "object" else "Int64").astype(kind)
    assert roentgen.evaluate(given, scores.tolist() if kind == "list" else scores, replicates=0).figures == expected


def test_exclusive_outputs_and_metrics():
    truth = numpy.eye(3)[numpy.arange(60) % 3]
    scores = numpy.random.default_rng(0).dirichlet([1, 1, 1], 60)
    evaluation = roentgen.evaluate(truth, scores, exclusive=True, metrics=["auprc", "brier"], replicates=50)
    assert "top" in evaluation.figures
    table = evaluation.table
    assert list(table.columns) == ["auroc", "low", "high", "positives", "n", "auprc", "auprc_low", "auprc_high", "brier",
                                   "brier_low", "brier_high"]
    assert (table.brier_low < table.brier).all() and table.auprc.between(0, 1).all()


def test_length_of_a_resumed_loader_is_that_of_an_epoch(data):
    loader = roentgen.Loader(data["train"], batch=16, size=32)
    next(iter(loader))
    resumed = roentgen.Loader(data["train"], batch=16, size=32)
    resumed.load_state_dict(loader.state_dict())
    assert len(resumed) == len(loader)
    assert sum(1 for _ in resumed) == len(loader) - 1
    assert sum(1 for _ in resumed) == len(loader)


def test_ranks_in_evaluation_get_no_batch_without_images(data):
    loaders = [roentgen.Loader(data["val"], batch=8, size=32, rank=rank, ranks=3) for rank in range(3)]
    sizes = [[len(images) for images, _ in loader] for loader in loaders]
    assert all(all(batches) for batches in sizes) and sum(map(sum, sizes)) == len(data["val"])
    assert [len(loader) for loader in loaders] == [len(batches) for batches in sizes]


def test_pickling(data, model, folder):
    for part in (data, data["val"]):
        twin = pickle.loads(pickle.dumps(part))
        assert twin.split == part.split and list(twin.frame.image) == list(part.frame.image)
    gray = numpy.zeros((40, 50), numpy.uint8)
    assert (pickle.loads(pickle.dumps(model)).predict(gray) == model.predict(gray)).all(axis=None)
    loader = roentgen.Loader(data["val"], batch=8, size=32)
    assert "pickle: expected a Loader in the process that created it" in message_of(pickle.dumps, loader)
    error = pickle.loads(pickle.dumps(roentgen.ConfigError("x")))
    assert type(error) is roentgen.ConfigError and copy.copy(data).labels == data.labels


def test_help_shows_the_interface_alone():
    text = pydoc.render_doc(roentgen, renderer=pydoc.plaintext)
    assert "with_traceback" not in text and "ConfigError   wrong argument, recipe or checkpoint" in text
    heat = pydoc.render_doc(roentgen.Heatmap, renderer=pydoc.plaintext)
    assert all(f"      {field.name}: " in heat for field in dataclasses.fields(roentgen.Heatmap))
    for name in ("Error", "ConfigError", "DataError", "ShapeError", "DeviceError", "CommError"):
        assert getattr(roentgen, name).__doc__.endswith(".")


def test_nothing_is_printed_at_exit(folder):
    script = ("import roentgen, sys, threading, time\n"
              f"data = roentgen.Dataset({str(folder)!r})\n"
              "loader = roentgen.Loader(data['train'], batch=8, size=32, workers=1)\n"
              "batches = iter(loader); held = next(batches)\n"
              "threading.Thread(target=lambda held: time.sleep(1000), args=(held,), daemon=True).start()\n"
              "raise SystemExit(3)\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 3 and done.stderr == ""


def test_progress_in_a_file_is_a_line_an_epoch(folder, tmp_path):
    from test_train import TINY
    script = f"import roentgen; roentgen.train({TINY!r}, {str(folder)!r}, {str(tmp_path / 'run')!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stdout and done.stdout.count("epoch ") == 2
    assert pathlib.Path(tmp_path / "run").is_dir()
