# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Chest X-ray classifiers at the speed of the hardware: data, batches, predictions, heat-maps and AUROCs.

    import roentgen

    data = roentgen.Dataset("my_xrays")                     # finds labels, patients and splits; print(data) tells what
    for images, labels in roentgen.Loader(data["train"]):   # batches for PyTorch, JAX or numpy
        ...
    roentgen.init("my_xrays", "recipe.toml")                # proposes a recipe, and says how long it takes
    run = roentgen.train("recipe.toml", "my_xrays", "run")  # or the name of one of recipes(), or settings as a dict
    print(run.evaluate("test"))                             # AUROCs with 95% intervals by patient, leaks refused
    model = run.model()                                     # or roentgen.load("run")
    table = model.predict("new_images")                     # a data frame, a row an image
    heat = model.heatmap("new_images/1.png", "Nodule")      # a picture in a notebook
    print(roentgen.evaluate(y, scores, patients))           # the same figures of any scores

A mistake in data or in an argument is a roentgen.Error whose text is one line: the argument, what was expected, what
was there, and what helps. It is one of

    ConfigError   an argument, a recipe or a checkpoint
    DataError     images, labels or files
    ShapeError    arrays that do not fit together
    DeviceError   a device that is not there
    CommError     processes that lost each other

Nothing here needs root, a compiler or MPI. The command line is here, too: `roentgen --help`.
"""
from __future__ import annotations

from roentgen import _name_clash  # noqa: F401  first: files of another project may lie among the package's
from roentgen import _openmp  # before the rest: it loads _native
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
    """Sets which lines about the work go to standard error.

    Args:
        level: "debug", "info" (as the program's), "warning" (the default) or "error".

    Raises:
        ConfigError: Another level.
    """
    _native.set_log_level(level)


# Without the exceptions: help() would show all that they inherit, ahead of everything else.
__all__ = [
    "Comparison", "Dataset", "Evaluation", "Heatmap", "Loader", "Model", "Run", "compare", "evaluate", "init", "load",
    "models", "recipe", "recipes", "set_log_level", "train",
]
