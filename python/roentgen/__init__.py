# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Chest X-ray classifiers at the speed of the hardware: data, batches, predictions, heat-maps and AUROCs.

    import roentgen

    data = roentgen.Dataset("my_xrays")                     # finds labels, patients and splits; see print(data)
    for images, labels in roentgen.Loader(data["train"]):   # batches for PyTorch, JAX or numpy
        ...
    roentgen.init("my_xrays", "recipe.toml")                # proposes a recipe and estimates the training time
    run = roentgen.train("recipe.toml", "my_xrays", "run")  # or a name from recipes(), or settings as a dict
    print(run.evaluate("test"))                             # AUROCs with 95% intervals by patient; refuses leaks
    model = run.model()                                     # or roentgen.load("run")
    table = model.predict("new_images")                     # a data frame with one row per image
    heat = model.heatmap("new_images/1.png", "Nodule")      # a picture in a notebook
    print(roentgen.evaluate(y, scores, patients))           # the same metrics for any scores

A mistake in data or in an argument raises a roentgen.Error. Its text is one line: the argument, the expected value, the
found value and a remedy. The subclasses are

    ConfigError   wrong argument, recipe or checkpoint
    DataError     images, labels or files that cannot be used
    ShapeError    arrays whose shapes do not match
    DeviceError   missing or failing device, such as a GPU
    CommError     failed communication between processes

The package needs no root, compiler or MPI. It contains the command line program, too: `roentgen --help`.
"""
from __future__ import annotations

from roentgen import _name_clash  # noqa: F401  first, as another project may have overwritten files of this package
from roentgen import _openmp  # before the other modules, because it loads _native
from roentgen._native import (CommError as CommError, ConfigError as ConfigError, DataError as DataError,
                              DeviceError as DeviceError, Error as Error, ShapeError as ShapeError)
from roentgen import _check, _native
from roentgen._dataset import Dataset
from roentgen._loader import Loader
from roentgen._model import Heatmap, Model, load
from roentgen._scores import Comparison, Evaluation, compare, evaluate
from roentgen._train import Run, init, models, recipe, recipes, train

__version__ = "0.1.0"


@_check.arguments
def set_log_level(level: str) -> None:
    """Sets which log lines are printed to standard error.

    Args:
        level: "debug", "info" (the level of the command line), "warning" (the default) or "error".

    Raises:
        ConfigError: Unknown level.
    """
    _native.set_log_level(level)


# Exceptions are omitted, because help() would print all their inherited members first.
__all__ = [
    "Comparison", "Dataset", "Evaluation", "Heatmap", "Loader", "Model", "Run", "compare", "evaluate", "init", "load",
    "models", "recipe", "recipes", "set_log_level", "train",
]
