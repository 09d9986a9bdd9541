#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times one loader of training images: gray float32 batches (N, 1, size, size), normalised to (level - 127.5) / 63.75.

  tools/peers/bench_loaders.py --loader dali --case png --work FOLDER --seconds 4 --threads 2
  tools/peers/bench_loaders.py --loader dali --case png --work FOLDER --first FILE    # in the order of names
  tools/peers/bench_loaders.py --loader dali --idle                                   # imports alone, then waits

FOLDER is one that tools/studies/loaders.py has filled. A loader reads the files in a new order in every pass, with
--threads threads or worker processes. With --first it keeps the order of names, and FILE gets the values of the first
8 images. --hold: seconds for which each batch is held, as by a training step.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import collections
import concurrent.futures
import importlib
import os
import pathlib
import random
import sys
import time

import numpy as np
from bench_peer import options_of, report

SUFFIXES = {"png": ".png", "jpeg": ".jpg"}
FIRST_IMAGES = 8  # number of images that --first writes


def files_of(options):
    """Paths of the case's images, sorted by name."""
    folder = pathlib.Path(options.work) / options.case
    return sorted(str(path) for path in folder.iterdir() if path.suffix == SUFFIXES[options.case])


def order_of(count, options):
    """Endless indices in passes, each in a new random order, or in the order of names with --first."""
    numbers = list(range(count))
    generator = random.Random(1)
    while True:
        if not options.first:
            generator.shuffle(numbers)
        yield from numbers


def normalised(levels):
    """Converts a uint8 tensor to normalised float32."""
    return levels.float().sub_(127.5).div_(63.75)


def roentgen_batches(options):
    import roentgen

    data = roentgen.Dataset(pathlib.Path(options.work) / options.case, labels=["finding"], split_mode="whole")
    loader = roentgen.Loader(data, batch=options.batch, size=options.image, channels=1, workers=options.threads,
                             shuffle=not options.first)
    while True:
        for images, _ in loader:
            yield images


def torch_batches(options, count, load, load_many=None):
    """Batches of torch.utils.data.DataLoader. `load` returns the image of an index; `load_many` returns the batch of
    several indices."""
    import torch

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return count

        def __getitem__(self, index):
            return load(index)

    class Batches(Images):
        def __getitems__(self, indices):
            return load_many(indices)

    return torch.utils.data.DataLoader(Batches() if load_many else Images(), batch_size=options.batch,
                                       sampler=order_of(count, options), num_workers=options.threads,
                                       collate_fn=(lambda batch: batch) if load_many else None)


def pillow_batches(options, is_draft=False):
    import torch
    from PIL import Image

    files = files_of(options)
    side = (options.image, options.image)

    def load(index):
        with Image.open(files[index]) as image:
            if is_draft:
                image.draft("L", side)
            levels = np.asarray(image.convert("L").resize(side, Image.Resampling.BILINEAR))
        return normalised(torch.from_numpy(levels)[None])

    return torch_batches(options, len(files), load)


def decoded_batches(options, decode):
    """DataLoader with a function that decodes a path to a gray uint8 tensor (1, H, W)."""
    from torchvision.transforms.v2 import functional

    files = files_of(options)
    side = [options.image, options.image]
    return torch_batches(options, len(files),
                         lambda index: normalised(functional.resize(decode(files[index]), side, antialias=True)))


def torchvision_batches(options):
    from torchvision import io

    return decoded_batches(options, lambda path: io.decode_image(io.read_file(path), io.ImageReadMode.GRAY))


def torchcodec_batches(options):
    from torchcodec import decoders

    decode = decoders.decode_png if options.case == "png" else decoders.decode_jpeg
    return decoded_batches(options, lambda path: decode(path, mode="GRAY"))


def litdata_batches(options):
    import litdata
    import torch
    from torchvision import io
    from torchvision.transforms.v2 import functional

    class Images(litdata.StreamingDataset):
        def __getitem__(self, index):
            data = torch.frombuffer(bytearray(super().__getitem__(index)), dtype=torch.uint8)
            levels = io.decode_image(data, io.ImageReadMode.GRAY)
            return normalised(functional.resize(levels, [options.image, options.image], antialias=True))

    data = Images(f"{options.work}/litdata_{options.case}", shuffle=not options.first, drop_last=True)
    loader = litdata.StreamingDataLoader(data, batch_size=options.batch, num_workers=options.threads,
                                         persistent_workers=True)
    while True:
        yield from loader


def opencv_batches(options, mode="IMREAD_GRAYSCALE"):
    import cv2
    import torch

    cv2.setNumThreads(1)
    files = files_of(options)
    side = (options.image, options.image)

    def load(row, path):
        row[:] = cv2.resize(cv2.imread(path, getattr(cv2, mode)), side, interpolation=cv2.INTER_AREA)
        row -= 127.5
        row /= 63.75

    order = order_of(len(files), options)
    ahead = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        while True:
            while len(ahead) < 3:
                batch = np.empty((options.batch, 1, *side), np.float32)
                ahead.append((batch, [pool.submit(load, row[0], files[next(order)]) for row in batch]))
            batch, loads = ahead.popleft()
            for done in loads:
                done.result()
            yield torch.from_numpy(batch)


def dali_batches(options):
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    files = files_of(options)

    @pipeline_def(batch_size=options.batch, num_threads=options.threads, device_id=None, seed=1)
    def pipeline():
        # Shuffles file names by shuffle_after_epoch, because random_shuffle would keep file contents in a buffer.
        data, _ = fn.readers.file(files=files, shuffle_after_epoch=not options.first, name="files")
        levels = fn.decoders.image(data, device="cpu", output_type=types.GRAY)
        levels = fn.resize(levels, size=(options.image, options.image), interp_type=types.INTERP_LINEAR, antialias=True)
        return fn.crop_mirror_normalize(levels, dtype=types.FLOAT, output_layout="CHW", mean=[127.5], std=[63.75])

    for output in DALIGenericIterator([pipeline()], ["images"], size=-1):
        yield output[0]["images"]


def tensorflow_batches(options, ratio=1):
    import tensorflow as tf

    files = files_of(options)
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)

    def load(path):
        data = tf.io.read_file(path)
        levels = tf.io.decode_png(data, channels=1) if options.case == "png" else tf.io.decode_jpeg(
            data, channels=1, ratio=ratio)
        image = (tf.image.resize(levels, (options.image, options.image), antialias=True) - 127.5) / 63.75
        return tf.transpose(image, (2, 0, 1))

    data = tf.data.Dataset.from_tensor_slices(files)
    if not options.first:
        data = data.shuffle(len(files))
    data = data.repeat().map(load, num_parallel_calls=options.threads)
    setting = tf.data.Options()
    setting.threading.private_threadpool_size = options.threads
    return data.batch(options.batch).prefetch(tf.data.AUTOTUNE).with_options(setting)


def spdl_batches(options):
    import spdl.io
    import spdl.pipeline
    import torch

    files = files_of(options)
    text = f"scale={options.image}:{options.image}:flags=bilinear,format=pix_fmts=gray"

    def load(paths):
        buffer = spdl.io.load_image_batch(paths, width=None, height=None, pix_fmt=None, filter_desc=text)
        return normalised(torch.from_numpy(spdl.io.to_numpy(buffer)).view(-1, 1, options.image, options.image))

    builder = spdl.pipeline.PipelineBuilder().add_source(files[index] for index in order_of(len(files), options))
    builder = builder.aggregate(options.batch).pipe(load, concurrency=options.threads, output_order="input").add_sink(2)
    pipeline = builder.build(num_threads=options.threads)
    with pipeline.auto_stop():
        yield from pipeline


def memmap_batches(options, is_batched=False):
    import torch

    levels = np.load(f"{options.work}/raw.npy", mmap_mode="r")

    def load(index):
        return normalised(torch.from_numpy(levels[index].copy())[None])

    def load_many(indices):
        return normalised(torch.from_numpy(levels[indices])[:, None])

    return torch_batches(options, len(levels), load, load_many if is_batched else None)


# `modules`: all modules that --idle imports; the last one names the loader. A new loader needs one row.
Loader = collections.namedtuple("Loader", "cases modules batches settings", defaults=({},))
FILES, JPEG, RAW = ("png", "jpeg"), ("jpeg",), ("raw",)
LOADERS = {
    "roentgen": Loader(("png", "jpeg", "raw"), ("torch", "roentgen"), roentgen_batches),
    "dali": Loader(FILES, ("torch", "nvidia.dali.plugin.pytorch", "nvidia.dali"), dali_batches),
    "opencv": Loader(FILES, ("torch", "cv2"), opencv_batches),
    "opencv, half": Loader(JPEG, ("torch", "cv2"), opencv_batches, {"mode": "IMREAD_REDUCED_GRAYSCALE_2"}),
    "opencv, quarter": Loader(JPEG, ("torch", "cv2"), opencv_batches, {"mode": "IMREAD_REDUCED_GRAYSCALE_4"}),
    "torchvision": Loader(FILES, ("torch", "torchvision.transforms.v2", "torchvision"), torchvision_batches),
    "pillow": Loader(FILES, ("torch", "PIL.Image", "PIL"), pillow_batches),
    "pillow, draft": Loader(JPEG, ("torch", "PIL.Image", "PIL"), pillow_batches, {"is_draft": True}),
    "tensorflow": Loader(FILES, ("tensorflow",), tensorflow_batches),
    "tensorflow, quarter": Loader(JPEG, ("tensorflow",), tensorflow_batches, {"ratio": 4}),
    "spdl": Loader(FILES, ("torch", "spdl.io", "spdl.pipeline", "spdl"), spdl_batches),
    "litdata": Loader(FILES, ("torch", "torchvision.transforms.v2", "litdata"), litdata_batches),
    "torchcodec": Loader(FILES, ("torch", "torchvision.transforms.v2", "torchcodec.decoders", "torchcodec"),
                         torchcodec_batches),
    "memmap": Loader(RAW, ("torch",), memmap_batches),
    "memmap, batches": Loader(RAW, ("torch",), memmap_batches, {"is_batched": True}),
}


def next_count(batches, options):
    """Number of images in the next batch, after a check of its shape. The last batch in file order may be shorter."""
    batch = next(batches)
    np.asarray(batch).reshape(-1)[::1024].sum()  # brings shared memory of workers into this process, as a step does
    time.sleep(options.hold)
    shape = (1, options.image, options.image)
    if tuple(batch.shape[1:]) != shape or "float32" not in str(batch.dtype):
        raise SystemExit(f"expected float32 images of shape {shape}, got {batch.dtype} of {tuple(batch.shape)}")
    return len(batch)


def images_per_s(batches, options):
    """Images/s over --seconds, after the batches of the warm-up."""
    for _ in range(options.warmup):
        next_count(batches, options)
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < options.seconds:
        count += next_count(batches, options)
    return count / (time.perf_counter() - start)


def main():
    options = options_of(__doc__, loader=tuple(LOADERS), case=("png", "jpeg", "raw"), work="", batch=64, image=224,
                         warmup=4, seconds=4.0, hold=0.0, first="", idle=False)
    loader = LOADERS[options.loader]
    package = [importlib.import_module(name) for name in loader.modules][-1]
    if options.idle:
        time.sleep(options.seconds)
        os._exit(0)  # skips the clean-up, in which libraries would touch more of their memory
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    batches = iter(loader.batches(options, **loader.settings))
    if options.first:
        np.asarray(next(batches))[:FIRST_IMAGES].tofile(options.first)
    report(f"{package.__name__} {package.__version__}", {options.loader: images_per_s(batches, options)})
    sys.stdout.flush()
    os._exit(0)  # skips the clean-up, which would wait for endless batches


if __name__ == "__main__":
    main()
