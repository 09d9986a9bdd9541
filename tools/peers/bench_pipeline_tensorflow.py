#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Measures how fast tf.data makes normalised batches from PNG files; compare with `roentgen bench pipeline`.

  pip install tensorflow-cpu
  tools/peers/bench_pipeline_tensorflow.py --data FOLDER --image 224 --batch 16 --threads 2 --warmup 4 --steps 20

Orders: naive = list, read, map, shard, shuffle, repeat, batch, prefetch; official = list, slices, shard, shuffle of
files, parallel interleave, prefetch, shuffle, repeat, parallel map and batch, prefetch. Both map with as many threads.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import os
import pathlib

from bench_peer import input_speed, options_of, report

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402


def row(data, size):
    image = tf.cast(tf.io.decode_png(data, channels=1), tf.float32)
    image = tf.image.resize(image, (size, size), antialias=True)
    return (image / 255.0 - 0.5) / 0.25


def batches(files, order, options):
    """tf.data data set of endless batches."""
    data = tf.data.Dataset
    buffer = max(1, min(500, len(files) // 8))
    mapping = lambda content: row(content, options.image)
    if order == "naive":
        rows = data.from_tensor_slices(files).map(tf.io.read_file)
        rows = rows.map(mapping, num_parallel_calls=options.threads).shard(1, 0).shuffle(buffer).repeat()
        result = rows.batch(options.batch, drop_remainder=True)
    else:
        names = data.from_tensor_slices(files).shard(1, 0).shuffle(len(files))
        contents = names.interleave(lambda name: data.from_tensors(name).map(tf.io.read_file), cycle_length=10,
                                    num_parallel_calls=10)
        contents = contents.prefetch(options.batch).shuffle(buffer).repeat()
        result = contents.map(mapping, num_parallel_calls=options.threads).batch(options.batch, drop_remainder=True)
    settings = tf.data.Options()
    settings.threading.private_threadpool_size = options.threads
    return result.prefetch(1).with_options(settings)


def main():
    options = options_of(__doc__, data="")
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    files = sorted(str(path) for path in pathlib.Path(options.data).iterdir() if path.suffix.lower() == ".png")
    shape = (options.batch, options.image, options.image, 1)
    figures = {f"tf.data {order}": input_speed(iter(batches(files, order, options)), shape, options)
               for order in ("naive", "official")}
    report(f"TensorFlow {tf.__version__}", figures)


if __name__ == "__main__":
    main()
