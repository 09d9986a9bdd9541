#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times tf.data's way from PNG files to normalised batches, as `roentgen bench pipeline` does ours.

  pip install tensorflow-cpu
  tools/peers/bench_pipeline_tf.py --data FOLDER --image 224 --batch 16 --workers 2 --order official --json tf.json

Orders: naive = list, read, map, shard, shuffle, repeat, batch, prefetch; official = list, slices, shard, shuffle of files,
parallel interleave, prefetch, shuffle, repeat, parallel map and batch, prefetch. Both map with as many threads.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402


def row(data, size):
    image = tf.cast(tf.io.decode_png(data, channels=1), tf.float32)
    image = tf.image.resize(image, (size, size), antialias=True)
    return (image / 255.0 - 0.5) / 0.25


def batches(files, options):
    """The data set, batch after batch, without an end."""
    data = tf.data.Dataset
    buffer = max(1, min(500, len(files) // 8))
    mapping = lambda content: row(content, options.image)
    if options.order == "naive":
        rows = data.from_tensor_slices(files).map(tf.io.read_file)
        rows = rows.map(mapping, num_parallel_calls=options.workers).shard(1, 0).shuffle(buffer).repeat()
        result = rows.batch(options.batch, drop_remainder=True)
    else:
        names = data.from_tensor_slices(files).shard(1, 0).shuffle(len(files))
        contents = names.interleave(lambda name: data.from_tensors(name).map(tf.io.read_file), cycle_length=10,
                                    num_parallel_calls=10)
        contents = contents.prefetch(options.batch).shuffle(buffer).repeat()
        result = contents.map(mapping, num_parallel_calls=options.workers).batch(options.batch, drop_remainder=True)
    settings = tf.data.Options()
    settings.threading.private_threadpool_size = options.workers
    return result.prefetch(1).with_options(settings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--order", choices=("naive", "official"), default="official")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    tf.config.threading.set_inter_op_parallelism_threads(options.workers)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    files = sorted(str(path) for path in options.data.iterdir() if path.suffix.lower() == ".png")
    times = [time.perf_counter()]
    for batch in batches(files, options).take(options.warmup + options.steps):
        if tuple(batch.shape) != (options.batch, options.image, options.image, 1):
            raise SystemExit(f"a batch of shape {tuple(batch.shape)}")
        times.append(time.perf_counter())
    steps = [after - before for before, after in zip(times[options.warmup:], times[options.warmup + 1:])]
    result = {"peer": f"TensorFlow {tf.__version__}", "order": options.order,
              "images_per_s": options.batch * len(steps) / sum(steps), "batch_ms": 1e3 * statistics.median(steps)}
    print(json.dumps(result))
    if options.json:
        options.json.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
