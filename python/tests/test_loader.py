# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import gc
import json
import multiprocessing
import os

import numpy
import pytest

import roentgen


def make(data, split="train", **options):
    return roentgen.Loader(data[split], **{"batch": 16, "size": 32, "framework": "numpy", "workers": 2, **options})


def epoch_of(loader):
    return [(images.copy(), labels.copy()) for images, labels in loader]


def same(a, b):
    return len(a) == len(b) and all(
        (x == u).all() and numpy.array_equal(y, v, equal_nan=True) for (x, y), (u, v) in zip(a, b))


def test_training_gives_whole_batches_in_a_new_order(data):
    loader = make(data)
    first, second = epoch_of(loader), epoch_of(loader)
    assert len(first) == len(loader) == len(data["train"]) // 16
    assert {images.shape for images, _ in first} == {(16, 1, 32, 32)}
    assert {labels.shape for _, labels in first} == {(16, 14)}
    assert not same(first, second)
    assert first[0][0].dtype == numpy.float32 and first[0][0].ctypes.data % 4 == 0


def test_batches_depend_on_the_seed_alone(data):
    augment = {"rotate": 20, "flip": 0.5}
    one = epoch_of(make(data, workers=1, augment=augment))
    assert same(one, epoch_of(make(data, workers=4, augment=augment)))
    assert not same(one, epoch_of(make(data, seed=1, augment=augment)))
    assert not same(one, epoch_of(make(data)))


def test_evaluation_gives_every_image_once_in_order(data):
    loader = make(data, "test")
    next(iter(loader))  # a look at the first batch changes nothing
    batches = epoch_of(loader)
    assert same(batches, epoch_of(loader))
    assert len(batches) == len(loader)
    test = data["test"]
    assert sum(len(images) for images, _ in batches) == len(test)
    assert len(batches[-1][0]) == len(test) % 16
    labels = numpy.concatenate([labels for _, labels in batches])
    assert (labels == test.frame[data.labels].to_numpy()).all()


def test_unknown_labels_are_nan(folder, tmp_path):
    (tmp_path / "labels.csv").write_text("path,a,b\n" + "".join(
        f"{folder}/images/{name},{'' if i % 3 == 0 else i % 2},1\n"
        for i, name in enumerate(sorted(os.listdir(folder / "images"))[:9])))
    data = roentgen.Dataset(tmp_path, labels=["a", "b"], split_mode="whole")
    (_, labels), = roentgen.Loader(data["test"], batch=9, size=16, framework="numpy")
    assert (numpy.isnan(labels[:, 0]) == [i % 3 == 0 for i in range(9)]).all()
    assert (labels[:, 1] == 1).all()


def test_uint8_is_the_picture_before_normalisation(data):
    gray = numpy.concatenate([images for images, _ in epoch_of(make(data, "test", dtype="uint8", preset="unit"))])
    real = numpy.concatenate([images for images, _ in epoch_of(make(data, "test", preset="unit"))])
    assert gray.dtype == numpy.uint8
    assert numpy.abs(gray / 255.0 - real).max() <= 0.5 / 255 + 1e-6


def test_a_batch_stays_while_it_is_held(data):
    loader = make(data)
    held = [loader_batch for _ in range(3) for loader_batch in loader]  # more than there are slots
    copies = [images.copy() for images, _ in held]
    for _ in loader:
        pass
    assert all((images == copy).all() for (images, _), copy in zip(held, copies))
    images = held[0][0]
    copy = images.copy()
    del loader, held
    gc.collect()
    assert (images == copy).all()  # memory outlives the loader


def test_resume_gives_the_very_same_batches(data):
    options = {"augment": {"rotate": 10}, "seed": 7}
    loader = make(data, **options)
    epoch_of(loader)
    rest = []
    for number, (images, labels) in enumerate(loader):
        if number == 1:
            state = json.loads(json.dumps(loader.state_dict()))
        if number >= 2:
            rest.append((images.copy(), labels.copy()))
    rest += epoch_of(loader)
    resumed = make(data, **options)
    resumed.load_state_dict(state)
    assert same(epoch_of(resumed) + epoch_of(resumed), rest)


def test_resume_with_another_batch_gives_the_rest_of_the_epoch(data):
    loader = make(data, batch=8, dtype="uint8")
    seen = 0
    for images, _ in loader:
        seen += len(images)
        if seen == 32:
            state = loader.state_dict()
            break
    before = {image.tobytes() for image in numpy.concatenate([images for images, _ in make(data, batch=8, dtype="uint8")][:4])}
    resumed = make(data, batch=16, dtype="uint8")
    resumed.load_state_dict(state)
    after = {image.tobytes() for images, _ in resumed for image in images}
    assert not before & after
    assert len(before) + len(after) >= len(data["train"]) - 16


def test_a_broken_off_epoch_is_not_gone_on_with(data):
    loader, whole = make(data), make(data)
    next(iter(loader))
    epoch_of(whole)
    assert same(epoch_of(loader), epoch_of(whole))
    loader.set_epoch(0)
    assert same(epoch_of(loader), epoch_of(make(data)))
    assert loader.epoch == 1


def test_stats_count_what_was_given(data):
    loader = make(data)
    epoch_of(loader)
    assert loader.stats["images"] >= len(loader) * 16 and loader.stats["wait_s"] >= 0


def test_lines_of_the_work_are_asked_for(data, capfd):
    epoch_of(make(data))
    assert capfd.readouterr().err == ""
    roentgen.set_log_level("info")
    epoch_of(make(data, workers=4))
    roentgen.set_log_level("warning")
    with pytest.raises(roentgen.ConfigError, match="one of debug, info, warning, error"):
        roentgen.set_log_level("loud")


def test_ranks_share_the_images(data):
    parts = [epoch_of(make(data, batch=8, ranks=2, rank=rank, dtype="uint8")) for rank in (0, 1)]
    images = [{image.tobytes() for batch, _ in part for image in batch} for part in parts]
    assert not images[0] & images[1]
    assert [len(part) for part in parts] == [len(data["train"]) // 16] * 2


def test_the_older_of_two_iterations_is_refused(data):
    loader = make(data)
    old = iter(loader)
    next(old)
    iter(loader)
    with pytest.raises(roentgen.ConfigError, match="expected the iteration started last"):
        next(old)


def test_mistakes(data):
    with pytest.raises(roentgen.DeviceError, match="expected cpu, got cuda"):
        make(data, device="cuda")
    with pytest.raises(roentgen.ConfigError, match="expected at least one batch of 4000"):
        make(data, batch=4000)
    with pytest.raises(roentgen.ConfigError, match="rotat"):
        make(data, augment={"rotat": 1})


def with_a_broken_image(folder, path, count, broken):
    """So many images of `folder` with a label, one of them unreadable; their names and the data set of all."""
    names = sorted(os.listdir(folder / "images"))[:count]
    for name in names:
        (path / name).write_bytes((folder / "images" / name).read_bytes())
    (path / names[broken]).write_bytes(b"no image")
    (path / "labels.csv").write_text("path,a\n" + "".join(f"{name},{i % 2}\n" for i, name in enumerate(names)))
    return names, roentgen.Dataset(path, labels=["a"], split_mode="whole")["test"]


def test_unreadable_images_are_replaced_and_counted(folder, tmp_path):
    names, data = with_a_broken_image(folder, tmp_path, 40, 3)
    loader = roentgen.Loader(data, batch=8, size=16, shuffle=True, framework="numpy", max_bad=0.05)
    assert sum(len(images) for images, _ in loader) == 40
    assert loader.bad == [3] and data.frame.image[3] == names[3]
    with pytest.raises(roentgen.DataError, match=names[3]):
        list(roentgen.Loader(data, batch=8, size=16, framework="numpy"))


def test_a_refused_state_leaves_the_loader_as_it_was(data):
    loader = make(data)
    state = loader.state_dict()
    for wrong in ({"batch": 500}, {"batch_size": 0}, {"ranks": 0}):
        with pytest.raises(roentgen.ConfigError):
            loader.load_state_dict({**state, **wrong})
    assert same(epoch_of(loader), epoch_of(make(data)))


def test_an_unreadable_image_is_told_in_every_pass(folder, tmp_path):
    names, data = with_a_broken_image(folder, tmp_path, 12, 9)
    loader = roentgen.Loader(data, batch=4, size=16, framework="numpy")
    for _ in range(3):
        with pytest.raises(roentgen.DataError, match=names[9]):
            list(loader)


def test_numbers_out_of_range_are_refused(data):
    for wrong in ({"rank": 2, "ranks": 2}, {"rank": -1}, {"ranks": 0}, {"batch": 0}, {"batch": -1}, {"batch": 10**12},
                  {"workers": -1}, {"workers": 10**6}):
        with pytest.raises(roentgen.ConfigError, match=r"\[python.loader\] .*a number from"):
            make(data, **wrong)


def _loaders_in_child(queue, data, loader):
    for work in (lambda: make(data), lambda: next(iter(loader))):
        try:
            work()
            queue.put("worked")
        except roentgen.ConfigError as error:
            queue.put(str(error))


def test_forked_processes_are_refused_by_name(data):
    loader = make(data)
    next(iter(loader))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_loaders_in_child, args=(queue, data, loader))
    child.start()
    assert 'start method "spawn"' in queue.get(timeout=60)
    assert "expected use in the process that created it" in queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
