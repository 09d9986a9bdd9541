# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""AUROCs with intervals by patient, and the comparison of two models: the program's own figures."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from roentgen import _native

if TYPE_CHECKING:
    import pandas


def _table(values: Any, labels: Sequence[str] | None):
    """(N, K) in the type that was given; columns of a data frame in the order of `labels`."""
    import numpy

    if labels is not None and hasattr(values, "columns") and set(labels) <= set(values.columns):
        values = values[list(labels)]
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    array = numpy.asarray(values)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise _native.ShapeError(f"[python.scores] values: expected an array (N, K) or (N), got {array.shape}; "
                                 "try a row an image and a column a label")
    return array


def _matrix(table: Any):
    """The same as float32, row-major."""
    import numpy

    return numpy.ascontiguousarray(table, dtype=numpy.float32)


def _scores(table: Any, metrics: Sequence[str] = ()):
    """The same for scores. Where float32 would make different scores equal, their ranks take their place."""
    import numpy

    array = _matrix(table)
    if array.dtype == table.dtype:
        return array
    for k in range(array.shape[1]):
        levels, ranks = numpy.unique(table[:, k], return_inverse=True)
        if len(levels) == len(numpy.unique(array[:, k])):
            continue
        if metrics:
            raise _native.DataError("[python.scores] scores: expected scores that differ in float32, got some that do "
                                    "not; try no metrics, for which their order alone matters")
        array[:, k] = ranks.reshape(-1)
    return array


def _labels(labels: Sequence[str] | None, *tables: Any) -> list[str]:
    """Names as told, of a data frame's columns, or "label 1" and so on."""
    if labels is not None:
        return [str(label) for label in labels]
    for table in tables:
        if hasattr(table, "columns"):
            return [str(column) for column in table.columns]
    shape = getattr(tables[0], "shape", None) or (len(tables[0]),)
    return [f"label {i + 1}" for i in range(shape[1] if len(shape) > 1 else 1)]


def _numbers(patients: Any, rows: int):
    """One number a patient, in the order of their first rows; a row without one (None, NaN, "") has its own."""
    import numpy
    import pandas

    if patients is None:
        return numpy.arange(rows, dtype=numpy.int64)
    given = pandas.Series(patients).reset_index(drop=True)
    is_unknown = given.isna() | (given.astype(str) == "")
    names = "known " + given.astype(str)
    names[is_unknown] = [f"row {i}" for i in given.index[is_unknown]]
    return numpy.ascontiguousarray(pandas.factorize(names)[0], dtype=numpy.int64)


class _Figures:
    """Figures as the program's JSON has them, and its table as text."""

    def __init__(self, figures: dict, text: str) -> None:
        self.figures = figures
        self._text = text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Evaluation(_Figures):
    """AUROCs of one model. print() shows the program's table; `figures` is its JSON."""

    @property
    def mean(self) -> float | None:
        """Mean AUROC over the labels where it is defined."""
        return self.figures["auroc"]["mean"]

    @property
    def table(self) -> pandas.DataFrame:
        """A row a label: its AUROC, the 95% interval, positives and images of known truth."""
        import pandas

        rows = {label: {"auroc": row["auroc"], "low": row["low"], "high": row["high"], "positives": row["positives"],
                        "n": row["n"]} for label, row in self.figures["auroc"]["labels"].items()}
        return pandas.DataFrame.from_dict(rows, orient="index")


class Comparison(_Figures):
    """Differences of two models, B less A. print() shows the program's table; `figures` is its JSON."""

    @property
    def table(self) -> pandas.DataFrame:
        """A row a label, the mean last: both AUROCs, the difference, its 95% interval and p."""
        import pandas

        rows = {**self.figures["labels"], "mean": self.figures["mean"]}
        return pandas.DataFrame.from_dict(
            {label: {"a": row["a"]["value"], "b": row["b"]["value"], "delta": row["delta"]["value"], "low": row["delta"]["low"],
                     "high": row["delta"]["high"], "p": row["p"]} for label, row in rows.items()}, orient="index")


def evaluate(y: Any, scores: Any, patients: Any = None, labels: Sequence[str] | None = None, *,
             metrics: Sequence[str] = (), replicates: int = 1000, seed: int = 0,
             exclusive: bool = False) -> Evaluation:
    """Exact AUROCs with 95% intervals, resampled by patient: images of one patient are not independent. Nothing here
    knows what a model was trained on; Run.evaluate("test") refuses patients and images that were.

    Args:
        y: Truth (N, K) or (N): 1, 0, and NaN where unknown. Arrays, data frames or tensors.
        scores: (N, K) or (N), any finite numbers; only their order matters to AUROC.
        patients: (N) anything that tells patients apart. Default: every row is a patient of its own, and then intervals
            are too narrow where a patient has several images.
        labels: (K) names; of data frames those columns are taken. Default: the columns of a data frame.
        metrics: More metrics by key: "auprc", "sensitivity_at_specificity_90", "brier", "ece", ...
        replicates: Resamples; 0 gives no intervals.
        seed: Of the resamples.
        exclusive: One label of each row is true, and scores sum to 1.

    Raises:
        DataError: Truth that is no 1, 0 or NaN; scores that are not finite.
        ShapeError: Rows or columns that do not fit together.
    """
    names = _labels(labels, scores, y)
    truth, values = _matrix(_table(y, names)), _scores(_table(scores, names), metrics)
    return Evaluation(*_native.evaluate(values, truth, _numbers(patients, len(values)), names, exclusive, replicates,
                                        seed, list(metrics)))


def compare(y: Any, scores_a: Any, scores_b: Any, patients: Any = None, labels: Sequence[str] | None = None, *,
            replicates: int = 2000, seed: int = 0, exclusive: bool = False) -> Comparison:
    """Differences of AUROC between two models on the same images, with paired intervals by patient and p.

    Arguments and errors as evaluate().
    """
    names = _labels(labels, scores_a, scores_b, y)
    truth = _matrix(_table(y, names))
    a, b = _scores(_table(scores_a, names)), _scores(_table(scores_b, names))
    return Comparison(*_native.compare(a, b, truth, _numbers(patients, len(a)), names, exclusive, replicates, seed))
