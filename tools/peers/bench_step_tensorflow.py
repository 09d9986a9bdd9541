#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times TensorFlow's training step: forward, loss on 14 labels, backward, SGD with momentum. The peer of `bench step`.

  pip install tensorflow-cpu
  python3 tools/peers/bench_step_tensorflow.py --model resnet50 --batch 16 --image 224 --threads 2 --json tf.json

Keras's own networks, in a tf.function (`graph`) and in one that XLA compiles (`xla`), each in a process of its own.
--dtype bf16 is Keras's policy mixed_bfloat16.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import multiprocessing
import os
import statistics
import time

WAYS = ("graph", "xla")
MODELS = {"resnet50": "ResNet50", "densenet121": "DenseNet121", "vgg16": "VGG16", "inception_v3": "InceptionV3"}


def measure(arguments, way):
    """Version, and seconds of each timed step; for a process of its own."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.keras.utils.set_random_seed(1)
    if arguments.dtype == "bf16":
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    shape = (arguments.image, arguments.image, 3)
    build = getattr(tf.keras.applications, MODELS[arguments.model])
    model = build(weights=None, input_shape=shape, classes=14, classifier_activation=None)
    optimizer = tf.keras.optimizers.SGD(learning_rate=1e-3, momentum=0.9)
    optimizer.build(model.trainable_variables)
    image = tf.random.normal((arguments.batch, *shape))
    target = tf.cast(tf.random.uniform((arguments.batch, 14)) > 0.9, tf.float32)

    @tf.function(jit_compile=way == "xla")
    def step():
        with tf.GradientTape() as tape:
            logits = tf.cast(model(image, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    times = []
    for _ in range(arguments.warmup + arguments.steps):
        start = time.perf_counter()
        step().numpy()
        times.append(time.perf_counter() - start)
    return tf.__version__, times[arguments.warmup:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50", choices=sorted(MODELS))
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image", type=int, default=224, help="side in pixels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--way", choices=[*WAYS, "both"], default="both")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    ways = list(WAYS) if arguments.way == "both" else [arguments.way]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = {way: pool.apply(measure, (arguments, way)) for way in ways}
    medians = {way: statistics.median(seconds) for way, (_, seconds) in measured.items()}
    version = next(iter(measured.values()))[0]
    result = {"peer": f"TensorFlow {version}", "model": arguments.model, "batch": arguments.batch,
              "image": arguments.image, "threads": arguments.threads, "warmup": arguments.warmup,
              "steps": arguments.steps,
              "layouts": {way: {"images_per_s": arguments.batch / median, "step_ms": {"median": 1e3 * median}}
                          for way, median in medians.items()}}
    result["images_per_s"] = max(entry["images_per_s"] for entry in result["layouts"].values())
    suffix = ", bf16" if arguments.dtype == "bf16" else ""
    result["figures"] = {f"Keras{suffix}, {way}": entry["images_per_s"] for way, entry in result["layouts"].items()}
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
