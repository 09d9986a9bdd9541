# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Dataset: list of the labelled images in a folder."""
from __future__ import annotations

import os
import pathlib
import secrets
import warnings
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from roentgen import _check, _native

if TYPE_CHECKING:
    import pandas

# Salt of this process. It keeps hashes of patients equal, but prevents finding an id by hashing all possible ids.
_SALT = secrets.token_hex(16)
_SPLITS = ("train", "val", "test")
# Values of the recipe key data.split. They choose how splits are made, and are no names of splits.
_SPLIT_MODES = ("auto", "given", "random", "whole")


def absolute(path: str | os.PathLike) -> str:
    """Absolute path, valid in any working directory. An empty path stays empty."""
    return str(pathlib.Path(path).absolute()) if os.fspath(path) else ""


def absolute_folder(text: str) -> str:
    """Data folder, "DIR" or "NAME=DIR", with an absolute path."""
    name, separator, folder = text.partition("=")
    if not separator or os.path.exists(text):
        return absolute(text)
    return f"{name}={absolute(folder)}"


def folders_of(data: str | os.PathLike | Sequence[str | os.PathLike]) -> list[str]:
    """Paths of one or several data folders, unchanged."""
    return [os.fspath(folder) for folder in ([data] if isinstance(data, (str, os.PathLike)) else data)]


def _data_section(recipe: str | os.PathLike | Mapping[str, Any] | None) -> dict[str, Any]:
    """Keys of a recipe's [data] section."""
    if recipe is None:
        return {}
    table = recipe if isinstance(recipe, Mapping) else _native.recipe_table(os.fspath(recipe))
    return dict(table.get("data", {}))


class Dataset:
    """List of the images, labels, patients and splits of a data folder. No image is decoded. A Dataset can be pickled;
    the process that unpickles it lists the folder again.

    Args:
        path: A folder, or several folders that are read as one data set. NIH ChestX-ray14, CheXpert, MIMIC-CXR,
            PadChest, images with a table, folders of classes and record files are recognised; `print(dataset)` shows
            which images were found and which were omitted. Omitted images cause a warning.
        labels: Names of the labels to learn. Default: all labels of the data set.
        split: "train", "val" or "test". Default: all images. `dataset["val"]` is the same data set with another split.
            A value of split_mode is also accepted, so that Dataset(path, **recipe["data"]) works.
        split_mode: Origin of the splits, as the recipe key data.split: "auto" (from lists or a column if there are any,
            else drawn by patient; the default), "given", "random" or "whole" (every image is "test").
        recipe: A recipe whose [data] section describes how to read the folder: the result of init(), a file, a name
            from recipes(), or nested dicts. The other arguments override it.
        **data: Other keys of a recipe's [data] section, such as views="frontal", csv="labels.csv", patient="MRN" or
            split_seed=1. Errors name the argument csv `data.csv`.

    Raises:
        ConfigError: An unknown option, or a folder in an unknown format.
        DataError: Missing, repeated or unreadable images or labels.

    Example:
        >>> data = roentgen.Dataset("nih", views="frontal")
        >>> len(data["train"]), data.labels[:2]
        (75708, ['Atelectasis', 'Cardiomegaly'])
    """

    @_check.arguments
    def __init__(self, path: str | os.PathLike | Sequence[str | os.PathLike], labels: Sequence[str] | None = None,
                 split: str | None = None, split_mode: str | None = None, *,
                 recipe: str | os.PathLike | Mapping[str, Any] | None = None, **data: Any) -> None:
        options = {**_data_section(recipe), **data}
        if split in _SPLIT_MODES:
            if split_mode not in (None, split):
                _check.refuse("dataset", "split", "train, val or test together with split_mode", split,
                              "split_mode without split")
            split, split_mode = None, split
        if split_mode is not None:
            options["split"] = split_mode
        if labels is not None:
            options["labels"] = labels
        folders = folders_of(path)
        self._listed = _native.list_dataset(folders, options)
        self._directory = os.getcwd()
        self._listing = ("list_dataset", ([absolute_folder(folder) for folder in folders], options))
        self._choose(split)
        if self._native.left_out_images:
            warnings.warn(f"{self._native.left_out_images} image files in {self.root} are not read: see "
                          "print(dataset) for the reasons", stacklevel=3)

    @property
    def _native(self) -> Any:
        """The listed data set. An unpickled Dataset lists its folder at first use, so that errors reach the user."""
        if self._listed is None:
            function, arguments = self._listing
            self._listed = getattr(_native, function)(*arguments)
        return self._listed

    @property
    def _indices(self) -> list[int]:
        """Indices of the images of the split."""
        if self._chosen is None:
            self._chosen = self._native.indices(self.split or "")
        return self._chosen

    def _choose(self, split: str | None) -> None:
        if split is not None and split not in _SPLITS:
            _check.refuse("dataset", "split", " or ".join(_SPLITS), _check.described(split), 'split="train"')
        self.split = split
        self._chosen: list[int] | None = None

    def __getitem__(self, split: str) -> Dataset:
        """The images of one split: "train", "val" or "test". No file is read again.

        Raises:
            KeyError: Unknown split.
        """
        if split not in _SPLITS:
            sizes = ", ".join(f"{name} ({len(self._native.indices(name))} images)" for name in _SPLITS)
            raise KeyError(f"{_check.described(split)} is no split; splits are {sizes}")
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        part._choose(split)
        return part

    def __reduce__(self):
        return unlisted, (*self._listing, self.split)

    def __len__(self) -> int:
        """Number of images of the split, or of all images."""
        return len(self._indices)

    def __str__(self) -> str:
        return str(self._native)

    def __repr__(self) -> str:
        left_out = f", left_out={self._native.left_out_images}" if self._native.left_out_images else ""
        return (f"Dataset({str(self._native.root)!r}, source={self.source!r}, split={self.split!r}, images={len(self)}"
                f"{left_out})")

    @property
    def labels(self) -> list[str]:
        """Names of the labels, in the order of label columns and of a network's outputs."""
        return self._native.label_names

    @property
    def source(self) -> str:
        """Kind of the data set: "nih", "csv", ..."""
        return self._native.source

    @property
    def root(self) -> os.PathLike:
        """Absolute path of the (first) folder."""
        return pathlib.Path(self._directory, self._native.root)

    @property
    def notes(self) -> list[str]:
        """Lines on images that were dropped or filtered, and on unknown labels or patients."""
        return self._native.notes

    @property
    def frame(self) -> pandas.DataFrame:
        """One row per image of the split: image (its name), path, split, patient, view, sex, age in years, and one
        float32 column per label (1, 0, NaN unknown). Patients are hashes that differ in every process;
        table(patients="written") gives their ids."""
        return self.table()

    @_check.arguments
    def table(self, patients: str = "hashed", salt: str | None = None) -> pandas.DataFrame:
        """Returns `frame` with hashed or original patient ids.

        Args:
            patients: "hashed", or "written" for the original ids.
            salt: Secret text that is hashed with each patient id, so that hashes are equal in other processes.
                Anyone who knows it can compute the hash of a patient.
        """
        import pandas

        if patients not in ("hashed", "written"):
            _check.refuse("dataset", "patients", "hashed or written", _check.described(patients), 'patients="hashed"')
        table = pandas.DataFrame(
            self._native.columns(self._indices, _SALT if salt is None else salt, patients == "written"))
        labels = pandas.DataFrame(self._native.labels(self._indices), columns=self.labels)
        return pandas.concat([table, labels], axis=1)

    def counts(self) -> pandas.DataFrame:
        """Number of images: one row per label, columns (split, "positives" | "negatives" | "unknown")."""
        import pandas

        splits = self._native.description()["splits"]
        columns = {(split, kind): {label: counts[kind] for label, counts in summary["labels"].items()}
                   for split, summary in splits.items() for kind in ("positives", "negatives", "unknown")}
        return pandas.DataFrame(columns, index=self.labels)


def unlisted(function: str, arguments: tuple, split: str | None = None) -> Dataset:
    """Creates a data set whose folder is listed by a function of `_native` at the first use."""
    dataset = object.__new__(Dataset)
    dataset._listed, dataset._listing, dataset._directory = None, (function, arguments), ""
    dataset._choose(split)
    return dataset
