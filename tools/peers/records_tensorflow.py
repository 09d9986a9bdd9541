#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks that TensorFlow reads the TFRecord files of `roentgen convert`, with the pixels of the original images.

  python3 -m venv venv && venv/bin/pip install tensorflow-cpu pillow
  roentgen convert DIR records --to tfrecord
  venv/bin/python tools/peers/records_tensorflow.py records DIR

tf.data reads every record (its checksums too), tf.io parses it. Its image must have the pixels of the file that
image/filename names below DIR, found by the end of its path, as TensorFlow (raw pixels: Pillow) decodes that. Exits 1
otherwise. Records must not have been resized or made JPEG.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import pathlib
import sys

import numpy as np
import tensorflow as tf
from PIL import Image

FEATURES = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/format": tf.io.FixedLenFeature([], tf.string),
    "image/filename": tf.io.FixedLenFeature([], tf.string),
    "image/width": tf.io.FixedLenFeature([], tf.int64),
    "image/height": tf.io.FixedLenFeature([], tf.int64),
    "image/channels": tf.io.FixedLenFeature([], tf.int64),
    "image/bits": tf.io.FixedLenFeature([], tf.int64),
    "image/split": tf.io.FixedLenFeature([], tf.string),
    "image/label": tf.io.VarLenFeature(tf.int64),
    "image/label_names": tf.io.VarLenFeature(tf.string),
}


def pixels_of(record):
    """Pixels of a record's image, (H, W, C)."""
    encoded = record["image/encoded"].numpy()
    shape = [int(record[f"image/{key}"]) for key in ("height", "width", "channels")]
    dtype = np.uint16 if int(record["image/bits"]) > 8 else np.uint8
    if record["image/format"].numpy() == b"raw":
        return np.frombuffer(encoded, dtype.__name__ if dtype is np.uint8 else "<u2").reshape(shape)
    if record["image/format"].numpy() == b"png":
        return tf.io.decode_png(encoded, channels=shape[2], dtype=dtype).numpy()
    return tf.io.decode_image(encoded, channels=shape[2]).numpy()


def pixels_of_file(path, like):
    if like.dtype == np.uint8 and like.shape[2] == 1:
        image = Image.open(path)
        return np.asarray(image if image.mode == "L" else image.convert("L"))[:, :, None]
    data = path.read_bytes()
    if path.suffix == ".png":
        return tf.io.decode_png(data, channels=like.shape[2], dtype=like.dtype).numpy()
    return tf.io.decode_image(data, channels=like.shape[2]).numpy()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    records, originals = map(pathlib.Path, sys.argv[1:])
    by_name = {}
    for path in originals.rglob("*"):
        by_name.setdefault(path.name, []).append(path)
    files = sorted(str(path) for path in records.glob("*.tfrecord"))
    count = bad = 0
    for message in tf.data.TFRecordDataset(files):
        record = tf.io.parse_single_example(message, FEATURES)
        name = record["image/filename"].numpy().decode()
        labels = tf.sparse.to_dense(record["image/label"]).numpy()
        names = record["image/label_names"].values
        found = [path for path in by_name.get(pathlib.Path(name).name, []) if path.as_posix().endswith(name)]
        pixels = pixels_of(record)
        is_same = len(labels) == len(names) and set(labels) <= {-1, 0, 1} and any(
            np.array_equal(pixels, pixels_of_file(path, pixels)) for path in found)
        count += 1
        bad += not is_same
        if not is_same:
            print(f"{name}: differs from {found or 'no file'}")
    print(f"TensorFlow {tf.__version__}: {count} records in {len(files)} files, {bad} differ")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
