#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times TensorFlow's training step: forward, loss on 14 labels, backward, SGD with momentum. The peer of `bench step`.

  pip install tensorflow-cpu
  python3 tools/peers/bench_step_tensorflow.py --model resnet50 --batch 16 --image 224 --threads 2

Keras's own networks, in a tf.function (`graph`) and in one that XLA compiles (`xla`), each in a process of its own.
--dtype bf16 is Keras's policy mixed_bfloat16.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import multiprocessing
import os

from bench_peer import median_speed, options_of, report, seconds_of

WAYS = ("graph", "xla")
MODELS = {"resnet50": "ResNet50", "densenet121": "DenseNet121", "vgg16": "VGG16", "inception_v3": "InceptionV3"}


def measure(options, way):
    """Version and images/s of one way; runs in its own process."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.keras.utils.set_random_seed(1)
    if options.dtype == "bf16":
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    shape = (options.image, options.image, 3)
    build = getattr(tf.keras.applications, MODELS[options.model])
    model = build(weights=None, input_shape=shape, classes=14, classifier_activation=None)
    optimizer = tf.keras.optimizers.SGD(learning_rate=1e-3, momentum=0.9)
    optimizer.build(model.trainable_variables)
    image = tf.random.normal((options.batch, *shape))
    target = tf.cast(tf.random.uniform((options.batch, 14)) > 0.9, tf.float32)

    @tf.function(jit_compile=way == "xla")
    def step():
        with tf.GradientTape() as tape:
            logits = tf.cast(model(image, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return tf.__version__, median_speed(seconds_of(lambda: step().numpy(), options), options)


def main():
    options = options_of(__doc__, model=tuple(MODELS), dtype=("f32", "bf16"))
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = {way: pool.apply(measure, (options, way)) for way in WAYS}
    suffix = ", bf16" if options.dtype == "bf16" else ""
    report(f"TensorFlow {measured[WAYS[0]][0]}",
           {f"Keras{suffix}, {way}": speed for way, (_, speed) in measured.items()})


if __name__ == "__main__":
    main()
