# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import shutil
import struct
import threading

import numpy
import pandas
import pytest

import roentgen
from conftest import run_program


@pytest.fixture(scope="session")
def files(folder):
    return [folder / "images" / name for name in sorted(os.listdir(folder / "images"))[:20]]


def test_probabilities_are_the_program_s_to_the_last_digit(model, run, files, tmp_path):
    run_program("predict", "--checkpoint", run / "checkpoints" / "best.safetensors", *files, "--preds",
                tmp_path / "preds.csv", "--threads", 1)
    told = pandas.read_csv(tmp_path / "preds.csv", index_col=0, dtype={f"prob_{label}": "float32"
                                                                       for label in model.labels})
    given = model.predict(files)
    assert list(given.index) == [str(file) for file in files]
    assert list(told.index) == [file.name for file in files]
    assert [f"prob_{label}" for label in given.columns] == list(told.columns)
    assert (given.to_numpy() == told.to_numpy()).all()


def test_a_type_that_the_device_does_not_compute_in_is_refused(run, model):
    assert model.dtype == roentgen.load(run, device="cpu", dtype="auto").dtype == "f32"
    for dtype, expected in (("bf16", "f32 or auto on the device cpu, got bf16; try dtype f32, or device cuda"),
                            ("tf32", "f32, bf16 or auto on a CPU, got tf32; try dtype f32, or device cuda"),
                            ("bf17", "f32, tf32, bf16, f16 or auto, got bf17")):
        with pytest.raises(roentgen.ConfigError, match=f"dtype: expected {expected}"):
            roentgen.load(run, device="cpu", dtype=dtype)


def test_arrays_give_what_their_files_give(model, folder, files):
    loader = roentgen.Loader(roentgen.Dataset(folder)["test"], batch=64, size=48, dtype="uint8", preset="unit",
                             framework="numpy")
    (pictures, _), = loader
    frame = loader.dataset.frame
    given = model.predict(pictures[:, 0])
    assert (given.to_numpy() == model.predict(list(frame.path)).to_numpy()).all()
    assert list(given.index) == list(range(len(pictures)))
    one = model.predict(pictures[0, 0])
    assert (one.to_numpy() == given.to_numpy()[:1]).all()
    wide = model.predict(pictures[:4, 0].astype(numpy.uint16) * 257)
    assert numpy.allclose(wide, given[:4], atol=1e-5)


def test_a_folder_and_an_unreadable_file(model, files, tmp_path):
    for file in files[:3]:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / files[1].name).write_bytes(b"no image")
    with pytest.warns(RuntimeWarning, match=f"1 of 3 images could not be read and are NaN, first error: .*{files[1].name}") as told:
        frame = model.predict(tmp_path)
    assert told[0].filename == __file__
    assert frame.isna().all(axis=1).tolist() == [False, True, False]
    assert list(frame.attrs["unreadable"]) == [1]
    assert files[1].name in frame.attrs["unreadable"][1]
    with pytest.raises(roentgen.DataError, match="absent"):
        model.predict(tmp_path / "absent.png")


def test_heatmaps_are_the_program_s(model, run, files, tmp_path):
    run_program("predict", "--checkpoint", run / "checkpoints" / "best.safetensors", files[0], "--heatmap", "Mass",
                "--out", tmp_path / "maps", "--threads", 1)
    told = numpy.load(next((tmp_path / "maps").glob("*.npy")))
    heat = model.heatmap(files[0], "Mass")
    assert (heat.values == told).all()
    assert heat.values.shape == heat.picture.shape == (48, 48) and heat.overlay.shape == (48, 48, 3)
    assert heat.probability == model.predict(files[0])["Mass"].iloc[0]
    # 48 pixels become 528, and edges between them stay soft.
    assert heat._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", heat._repr_png_()[16:24]) == (528, 528)
    shown = roentgen._model._enlarged(heat.overlay).astype(int)
    assert numpy.abs(shown[5::11, 5::11] - heat.overlay).max() == 0
    assert numpy.abs(numpy.diff(shown, axis=0)).max() <= numpy.abs(numpy.diff(heat.overlay.astype(int), axis=0)).max() / 11 + 1
    large = numpy.zeros((300, 512, 3), numpy.uint8)
    assert roentgen._model._enlarged(large).shape == large.shape
    heat.save(tmp_path / "heat.png")
    assert (tmp_path / "heat.png").stat().st_size > 100
    before = open(files[0], "rb").read()
    os.symlink(files[0], tmp_path / "link.png")
    for own in (files[0], tmp_path / "link.png"):
        with pytest.raises(roentgen.ConfigError, match="the image itself"):
            heat.save(own)
    assert open(files[0], "rb").read() == before
    with pytest.raises(roentgen.ConfigError, match="expected a label of the checkpoint"):
        model.heatmap(files[0], "Elephant")


def test_features_are_what_the_classifier_sees(model, files):
    features = model.features(files)
    assert features.shape[0] == 20 and numpy.isfinite(features).all()
    assert (features == model.features(files[:10] + files[10:])).all()


def test_onnx_is_the_program_s_byte_for_byte(model, run, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    run_program("export", "--checkpoint", run / "checkpoints" / "best.safetensors", "--out", tmp_path / "a" / "m.onnx")
    model.export_onnx(tmp_path / "b" / "m.onnx")
    for name in ("m.onnx", "m.onnx.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_preprocessing_fits_a_loader(model, data):
    images, _ = next(iter(roentgen.Loader(data["test"], batch=4, preprocess=model.preprocessing, framework="numpy")))
    assert images.shape == (4, 1, 32, 32)
    assert "resnet18" in model.recipe and model.labels == data.labels


def test_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(roentgen.ConfigError, match="best.safetensors"):
        roentgen.load(tmp_path)
    (tmp_path / "cut.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}")
    with pytest.raises(roentgen.ConfigError, match="cut.safetensors"):
        roentgen.load(tmp_path / "cut.safetensors")


def test_arrays_of_other_types_are_refused(model):
    with pytest.raises(roentgen.ConfigError, match="uint8 or uint16"):
        model.predict(numpy.zeros((2, 8, 8), numpy.float32))
    with pytest.raises(roentgen.ConfigError, match="gray levels"):
        model.predict(numpy.zeros((2, 8, 8, 4), numpy.uint8))
    with pytest.raises(roentgen.ConfigError, match="alpha"):
        model.predict(numpy.zeros((8, 8, 4), numpy.uint8))


def test_one_picture_in_colour_is_one_image(model):
    picture = numpy.random.default_rng(0).integers(0, 255, (40, 50, 3), numpy.uint8)
    assert (model.predict(picture).to_numpy() == model.predict([picture]).to_numpy()).all()
    assert len(model.predict(picture)) == 1


def test_arithmetic_of_others_keeps_denormals(model, files, folder, tmp_path):
    from test_train import TINY
    tiny = numpy.full(4, 1e-40, "f4")
    products = []

    def tell(record):
        if record["kind"] in ("step", "epoch"):
            products.append(tiny * numpy.float32(0.5))

    model.predict(files[:2])
    model.heatmap(files[0], "Mass")
    products.append(tiny * numpy.float32(0.5))
    roentgen.train(TINY, folder, tmp_path / "run", settings={"train.epochs": 1}, callbacks=tell, progress=False)
    products.append(tiny * numpy.float32(0.5))
    assert len(products) > 3 and all((product > 0).all() for product in products)


def test_threads_share_a_model(model, files):
    expected = model.predict(files).to_numpy()
    results = [None] * 4

    def work(number):
        results[number] = model.predict(files).to_numpy()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((result == expected).all() for result in results)


def _predict_in_child(queue, model, files):
    try:
        model.predict(files)
        queue.put("worked")
    except roentgen.ConfigError as error:
        queue.put(str(error))


def test_forked_processes_are_refused_by_name(model, files):
    model.predict(files)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_predict_in_child, args=(queue, model, files))
    child.start()
    assert 'start method "spawn"' in queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0


def test_a_forked_pool_tells_its_parent(model, files, data):
    model.predict(files[:1])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        with pytest.raises(roentgen.ConfigError, match='start method "spawn"'):
            pool.map_async(model.predict, files[:4]).get(timeout=60)
        assert pool.map_async(len, [data, data["val"]]).get(timeout=60) == [160, len(data["val"])]


def test_a_pickled_object_that_is_gone_says_so_at_its_use(folder, run, tmp_path):
    shutil.copytree(folder, tmp_path / "data")
    shutil.copy(run / "checkpoints" / "best.safetensors", tmp_path / "w.safetensors")
    kept = pickle.dumps((roentgen.Dataset(tmp_path / "data", split="val"), roentgen.load(tmp_path / "w.safetensors")))
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "w.safetensors").unlink()
    data, model = pickle.loads(kept)
    assert data.split == "val"
    with pytest.raises(roentgen.DataError, match="no such folder"):
        len(data)
    with pytest.raises(roentgen.ConfigError, match="w.safetensors"):
        model.labels


def test_another_working_directory_changes_nothing(folder, run, tmp_path, monkeypatch):
    monkeypatch.chdir(folder.parent)
    data = roentgen.Dataset("phantoms")
    monkeypatch.chdir(run.parent)
    model, trained = roentgen.load("run", threads=1), roentgen.Run("run")
    monkeypatch.chdir(tmp_path)
    part = data["test"]
    assert model.predict(part).notna().all(axis=None) and pickle.loads(pickle.dumps(model)).labels == model.labels
    images, _ = next(iter(roentgen.Loader(part, batch=4, size=32, framework="numpy")))
    assert len(images) == 4 and len(pickle.loads(pickle.dumps(part))) == len(part)
    assert data.root == folder and trained.folder == run and len(trained.history) == 1
    assert trained.data().frame.path.equals(data.frame.path)
    with pytest.raises(roentgen.DataError, match="phantoms"):
        roentgen.Dataset("phantoms")


def test_a_folder_s_images_join_the_truth_however_it_is_named(data, folder, model, monkeypatch):
    monkeypatch.chdir(folder.parent)
    for name in ("phantoms/images", "./phantoms//images/", folder / "images"):
        joined = data.frame.join(model.predict(name).add_suffix("_score"), on="path")
        assert joined[f"{model.labels[0]}_score"].notna().all()
    for name in ("phantoms", "./phantoms/"):
        assert roentgen.Dataset(name).frame.path.equals(data.frame.path)


def test_an_export_replaces_nothing_that_is_read(model, run, folder, tmp_path):
    taken = [run / "checkpoints" / "best.safetensors", run / "checkpoints" / "resume.safetensors", run / "recipe.toml"]
    before = [path.read_bytes() for path in taken]
    for path in taken:
        with pytest.raises(roentgen.ConfigError, match="expected a separate file, got a file of the run"):
            model.export_onnx(path)
    with pytest.raises(roentgen.ConfigError, match=r"\[io.place\] out .*expected a path outside the data folder"):
        model.export_onnx(folder / "images" / "m.onnx")
    assert [path.read_bytes() for path in taken] == before and not (folder / "images" / "m.onnx.md").exists()


def foreign_weights(path):
    """torchvision's ResNet-18 with three outputs, as another program writes it: without a word on its input."""
    names = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "torch" / "names.csv"
    header, end = {}, 0
    for line in names.read_text().splitlines():
        library, network, name, shape = line.split(",")
        if (library, network) != ("torchvision", "resnet18"):
            continue
        sizes = [int(size) for size in shape.split("x")]
        sizes[0] = 3 if name.startswith("fc.") else sizes[0]
        begin, end = end, end + 4 * math.prod(sizes)
        header[name] = {"dtype": "F32", "shape": sizes, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + numpy.full(end // 4, 0.01, "<f4").tobytes())


def test_weights_of_other_programs_are_loaded_as_they_are(tmp_path):
    path = tmp_path / "w.safetensors"
    foreign_weights(path)
    model = roentgen.load(path, labels=["a", "b", "c"], threads=1, workers=1)
    assert model.preprocessing["channels"] == 3 and any("imagenet" in note for note in model.notes)
    pictures = numpy.zeros((1, 32, 32, 3), numpy.uint8)
    frame = model.predict(pictures)
    assert list(frame.columns) == ["a", "b", "c"] and frame.notna().all(axis=None)
    assert model.features(pictures).shape == (1, 512)
    model.export_onnx(tmp_path / "m.onnx")
    with pytest.raises(roentgen.ConfigError, match="expected 3 labels"):
        roentgen.load(path, labels=["a"])
    with pytest.raises(roentgen.ConfigError, match="tensors of densenet121"):
        roentgen.load(path, model="densenet121")


def test_a_file_that_calls_functions_is_refused(tmp_path):
    (tmp_path / "evil.pt").write_bytes(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.cos\nsystem\n)R.")
    with pytest.raises(roentgen.ConfigError, match="got a call of os.system"):
        roentgen.load(tmp_path / "evil.pt")


def test_pictures_of_one_channel_levels_of_12_bits_and_data_sets(model, data):
    part = data["test"]
    paths = list(part.frame.path)[:2]
    gray = numpy.full((40, 50), 90, numpy.uint8)
    assert model.predict(gray[:, :, None]).equals(model.predict(gray))
    with pytest.warns(UserWarning, match="values only up to 4000, but white is 65535"):
        model.predict(numpy.full((40, 50), 4000, numpy.uint16))
    assert model.predict(part).loc[paths].equals(model.predict(paths))
    with pytest.raises(roentgen.ConfigError, match="got a data frame; try list"):
        model.predict(part.frame)
