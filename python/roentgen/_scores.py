# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""AUROCs with confidence intervals by patient, and the comparison of two models, as the command line computes them."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Sequence

from roentgen import _check, _native

if TYPE_CHECKING:
    import numpy
    import pandas


def _refuse(name: str, expected: str, got: str, remedy: str, kind: type = _native.DataError):
    _check.refuse("scores", name, expected, got, remedy, kind)


def _numbers(name: str, values: Any) -> numpy.ndarray:
    """Converts to an (N, K) array of real numbers and keeps the type. Missing values become NaN."""
    import numpy
    import pandas

    if values is None:
        _refuse(name, "an array (N, K) or (N)", "None", "one row per image and one column per label")
    if hasattr(values, "detach"):  # a tensor; numpy has no bfloat16
        values = values.detach().cpu()
        values = values.float() if "bfloat16" in str(values.dtype) else values
    if numpy.ma.isMaskedArray(values):
        values = values.astype("float64").filled(numpy.nan)
    try:
        array = numpy.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError:
        _refuse(name, "rows of equal length", "rows of different lengths", "an array (N, K)", _native.ShapeError)
    if array.dtype == object and not any(isinstance(value, (str, bytes)) for value in array.flat):
        try:
            array = numpy.where(pandas.isna(array), numpy.nan, array).astype("float64")
        except (TypeError, ValueError):
            pass
    if array.dtype.kind not in "biuf":
        got = "text or other objects" if array.dtype.kind in "OSU" else f"values of type {array.dtype}"
        _refuse(name, "real numbers", got, "numbers, or labels=[...] to select columns with numbers")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        _refuse(name, "an array (N, K) or (N)", f"an array of shape {array.shape}",
                "one row per image and one column per label", _native.ShapeError)
    return array


def _same_rows(tables: dict[str, Any]) -> dict[str, Any]:
    """Sorts the rows of all tables by the index of the first table with an index. Arrays and lists have no index."""
    import pandas

    indexed = [name for name, table in tables.items() if hasattr(table, "iloc")]
    aligned = dict(tables)
    for name in indexed[1:]:
        first, own = tables[indexed[0]].index, tables[name].index
        if own.equals(first):
            continue
        # An index 0, 1, 2, ... may be the original row numbers or come from reset_index(), so the match is ambiguous.
        counted = pandas.RangeIndex(len(first))
        if first.equals(counted) or own.equals(counted):
            one, other = (indexed[0], name) if first.equals(counted) else (name, indexed[0])
            _refuse(f"index of {name}", f"the index of {indexed[0]}",
                    f"0, 1, 2, ... in {one} and another index in {other}",
                    "one index for both, or .reset_index(drop=True) for both if their rows are in the same order",
                    _native.ShapeError)
        absent, more = int((~first.isin(own)).sum()), int((~own.isin(first)).sum())
        if absent or more or not (first.is_unique and own.is_unique):
            got = f"{absent} missing and {more} other rows" if absent or more else "repeated index values"
            _refuse(f"index of {name}", f"the {len(first)} rows of {indexed[0]}", got,
                    ".reset_index(drop=True) for both if their rows are in the same order", _native.ShapeError)
        aligned[name] = tables[name].iloc[own.get_indexer(first)]
    return aligned


def _same_columns(tables: dict[str, Any], labels: Sequence[str] | None) -> tuple[list[str] | None, dict[str, Any]]:
    """Returns the names of the labels (None if unknown), and the tables with only these columns in data frames."""
    frames = {name: tables[name] for name in [*tables][1:] + ["y"] if hasattr(tables[name], "columns")}
    origin, names = "labels", labels
    if labels is None and frames:
        origin = next(iter(frames))
        names = [str(column) for column in frames[origin].columns]
    for name, table in frames.items():
        columns = {str(column): column for column in table.columns}
        absent = [label for label in names if label not in columns]
        more = [column for column in columns if column not in names] if labels is None else []
        if absent or more or len(columns) < len(table.columns):
            found = " and ".join(f"{what} {', '.join(which[:5])}"
                                 for what, which in (("without", absent), ("with", more)) if which)
            _refuse(f"columns of {name}", f"the columns of {origin}" if found else "different names",
                    found or "equal names",
                    "labels=[...] to select columns, or .to_numpy() if their order is the same", _native.ShapeError)
        tables = {**tables, name: table[[columns[label] for label in names]]}
    return names, tables


def _patients(patients: Any, rows: int) -> tuple[numpy.ndarray, str]:
    """Numbers the patients in the order of their first rows. Each row without a patient (None, NaN, "") counts as a
    separate patient; a note counts these rows."""
    import numpy
    import pandas

    if patients is None:
        return numpy.arange(rows, dtype=numpy.int64), ""
    try:
        given = pandas.Series(patients).reset_index(drop=True)
    except ValueError:
        given = pandas.Series([], dtype=object)
    if len(given) != rows:
        _refuse("patients", f"{rows} values, one per row", f"{len(given)} in {_check.described(patients)}",
                "a column or a list", _native.ShapeError)
    is_unknown = given.isna() | (given.astype(str) == "")
    names = "known " + given.astype(str)
    names[is_unknown] = [f"row {i}" for i in given.index[is_unknown]]
    unknown = int(is_unknown.sum())
    note = f"{unknown} image{'s' * (unknown > 1)} of unknown patient: each counts as a patient of its own\n"
    return numpy.ascontiguousarray(pandas.factorize(names)[0], dtype=numpy.int64), note * (unknown > 0)


def _require_exclusive(truth: numpy.ndarray, scores: numpy.ndarray) -> None:
    import numpy

    is_sound = (abs(scores.sum(axis=1) - 1) <= 1e-3) & (scores.min(axis=1) >= 0) & ((truth == 1).sum(axis=1) == 1)
    if not is_sound.all():
        row = int(numpy.argmin(is_sound))
        _refuse("exclusive", "one true label in each row, and scores that sum to 1",
                f"{(truth[row] == 1).sum()} true labels and a sum of {scores[row].sum():.4g} in row {row}",
                "exclusive=False")


def _exact(array: numpy.ndarray, metrics: Sequence[str]) -> numpy.ndarray:
    """Converts scores to float32. If different scores would become equal, ranks replace the scores. Metrics need the
    scores themselves: then a warning counts the equal scores, and more than 1% raise an error."""
    import numpy

    narrow = numpy.ascontiguousarray(array, dtype=numpy.float32)
    if narrow.dtype == array.dtype:
        return narrow
    for k in range(array.shape[1]):
        levels, ranks = numpy.unique(array[:, k], return_inverse=True)
        if len(levels) == len(numpy.unique(narrow[:, k])):
            continue
        if not metrics:
            narrow[:, k] = ranks.reshape(-1)
            continue
        equal = len(levels) - len(numpy.unique(narrow[:, k]))
        if 100 * equal > len(levels):
            _refuse("scores", "scores that differ in float32", f"{equal} of {len(levels)} values that become equal",
                    "omitting metrics, because AUROC needs only the order, or numpy.float32(scores)")
        warnings.warn(f"scores: {equal} of {len(levels)} different values of column {k} become equal in float32, in which "
                      "metrics are computed", RuntimeWarning, stacklevel=4)
    return narrow


def _inputs(y: Any, scores: dict[str, Any], patients: Any, labels: Sequence[str] | None, exclusive: bool,
            metrics: Sequence[str] = ()) -> tuple[list[numpy.ndarray], numpy.ndarray, numpy.ndarray, str, list[str]]:
    """Returns scores of each model, truth, patients, a note on unknown patients, and labels. Rows are matched by index
    and columns by name, if they have them."""
    import numpy

    tables = _same_rows({"y": y, **scores, "patients": patients})
    patients = tables.pop("patients")
    labels, tables = _same_columns(tables, labels)
    arrays = {name: _numbers(name, table) for name, table in tables.items()}
    truth = arrays.pop("y")
    for name, array in arrays.items():
        if array.shape != truth.shape:
            _refuse(name, f"as many rows and columns as y, {truth.shape}", f"{array.shape}",
                    "one row per image and one column per label", _native.ShapeError)
        if not numpy.isfinite(array).all():
            row = int(numpy.argmin(numpy.isfinite(array).all(axis=1)))
            _refuse(f"{name}, row {row}", "finite numbers", str(array[row].tolist()[:5]),
                    "removing such rows from y and scores")
        if exclusive:
            _require_exclusive(truth, array)
    rows, count = truth.shape
    labels = [f"label {k + 1}" for k in range(count)] if labels is None else labels
    if len(labels) != count:
        _refuse("labels", f"{count} names, one per column", f"{len(labels)}", "a name for each column",
                _native.ShapeError)
    return ([_exact(array, metrics) for array in arrays.values()], numpy.ascontiguousarray(truth, dtype=numpy.float32),
            *_patients(patients, rows), labels)


class _Figures:
    """Results as in the JSON output of the command line, and as a table in text form."""

    def __init__(self, figures: dict, text: str) -> None:
        self.figures = figures
        self._text = text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Evaluation(_Figures):
    """AUROCs of one model. print() shows a table; `figures` has all values, as the JSON output of the command line."""

    @property
    def mean(self) -> float | None:
        """Mean AUROC over the labels with a defined AUROC."""
        return self.figures["auroc"]["mean"]

    @property
    def table(self) -> pandas.DataFrame:
        """One row per label: AUROC, its 95% interval (low, high), positives and images of known truth (n); for each
        requested metric KEY also KEY, KEY_low and KEY_high."""
        import pandas

        rows = {label: {"auroc": row["auroc"], "low": row["low"], "high": row["high"], "positives": row["positives"],
                        "n": row["n"]} for label, row in self.figures["auroc"]["labels"].items()}
        for key, metric in self.figures.get("metrics", {}).items():
            for label, figure in metric["labels"].items():
                rows[label].update({key: figure["value"], f"{key}_low": figure["low"], f"{key}_high": figure["high"]})
        return pandas.DataFrame.from_dict(rows, orient="index")


class Comparison(_Figures):
    """Differences between two models, B - A. print() shows a table; `figures` has all values, as the JSON output."""

    @property
    def table(self) -> pandas.DataFrame:
        """One row per label, then the mean: both AUROCs, their difference, its 95% interval and p-value."""
        import pandas

        rows = {**self.figures["labels"], "mean": self.figures["mean"]}
        return pandas.DataFrame.from_dict(
            {label: {"a": row["a"]["value"], "b": row["b"]["value"], "delta": row["delta"]["value"], "low": row["delta"]["low"],
                     "high": row["delta"]["high"], "p": row["p"]} for label, row in rows.items()}, orient="index")


@_check.arguments
def evaluate(y: Any, scores: Any, patients: Any = None, labels: Sequence[str] | None = None, *,
             metrics: Sequence[str] = (), replicates: int = 1000, seed: int = 0,
             exclusive: bool = False) -> Evaluation:
    """Exact AUROCs with 95% intervals by bootstrap over patients, since images of one patient are not independent. This
    function does not know the training data; Run.evaluate("test") refuses patients and images of the training.

    Arguments are arrays, lists, tensors, data frames or series. Rows are matched by index if there is one, columns of
    data frames by name, all others by position.

    Args:
        y: Truth (N, K) or (N): 1, 0, and NaN, None or pandas.NA where unknown.
        scores: (N, K) or (N), any finite numbers; AUROC depends only on their order.
        patients: (N) ids of the patients; each row with None, NaN or "" counts as a separate patient, and the text
            counts these rows. Default: each row is a separate patient; intervals are then too narrow if patients have
            several images.
        labels: (K) names; of data frames, only these columns are used. Default: all columns, which must have the same
            names.
        metrics: Keys of more metrics: "auprc", "sensitivity_at_specificity_90", ... "brier" and "ece" need
            probabilities.
        replicates: Bootstrap resamples, at most 1,000,000; 0 gives no intervals.
        seed: Seed of the resamples, 0 or more.
        exclusive: True: one label of each row is true, and scores are probabilities that sum to 1 (softmax). With
            metrics, `figures` then also has the accuracy of the most probable label.

    Raises:
        DataError: Truth other than 1, 0 or unknown; scores that are not finite, or that are no probabilities although a
            metric or `exclusive` needs them.
        ShapeError: Rows or columns that do not match. The error names the difference.
        ConfigError: An unknown metric.
        KeyboardInterrupt: After the current resample.
    """
    (values,), truth, numbers, note, names = _inputs(y, {"scores": scores}, patients, labels, exclusive, metrics)
    figures, text = _native.evaluate(values, truth, numbers, names, exclusive, replicates, seed, metrics)
    return Evaluation(figures, note + text)


@_check.arguments
def compare(y: Any, scores_a: Any, scores_b: Any, patients: Any = None, labels: Sequence[str] | None = None, *,
            replicates: int = 2000, seed: int = 0, exclusive: bool = False) -> Comparison:
    """AUROC differences between two models on the same images, with paired intervals by patient and p-values.

    Arguments and errors as for evaluate(); scores_a and scores_b are the scores of the two models.
    """
    scores = {"scores_a": scores_a, "scores_b": scores_b}
    (a, b), truth, numbers, note, names = _inputs(y, scores, patients, labels, exclusive)
    figures, text = _native.compare(a, b, truth, numbers, names, exclusive, replicates, seed)
    return Comparison(figures, note + text)
