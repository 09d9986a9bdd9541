# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Training by a recipe, like `roentgen train`."""
from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from roentgen import _check, _native
from roentgen._dataset import Dataset, absolute, absolute_folder, folders_of, unlisted
from roentgen._model import Model, load
from roentgen._scores import Evaluation

if TYPE_CHECKING:
    import pandas


def recipes() -> dict[str, str]:
    """Built-in recipes: name and one-line description. train() accepts these names."""
    return {recipe["name"]: recipe["summary"] for recipe in _native.recipes()}


@_check.arguments
def recipe(name: str | os.PathLike) -> str:
    """Text of a built-in recipe or recipe file, as TOML with comments.

    Raises:
        ConfigError: Neither a file nor a name from recipes().
    """
    return _native.recipe_text(os.fspath(name))


def models() -> list[dict[str, Any]]:
    """Built-in networks, each with name, summary, number of parameters, multiply_adds per gray image, and image_px, its
    usual image size. `pandas.DataFrame(roentgen.models())` makes a table."""
    return _native.models()


@_check.arguments
def init(path: str | os.PathLike, out: str | os.PathLike | None = None, *,
         settings: Mapping[str, Any] | None = None, progress: bool = True) -> str:
    """Inspects a folder of images and proposes a recipe for it, like `roentgen init`: labels, patients, split, views,
    image size and network. Measures the training speed of this machine for about 15 seconds.

    Args:
        path: Folder of images with a table (comma, semicolon or tab), with a subfolder per class, or a known data set.
        out: New file for the recipe. None: no file.
        settings: Keys of the [data] section that you already know: {"data.csv": "findings.csv", "data.patient": "MRN"}.
        progress: Print the expected time and points to check.

    Returns:
        The recipe as TOML, each value with its reason. train(recipe, path, ...) and Dataset(path, recipe=recipe) accept
        the text or the file.

    Raises:
        DataError: An unreadable folder, or images without labels.
        ConfigError: `out` exists, lies in the image folder or in a missing folder.
    """
    found = _native.init(os.fspath(path), "" if out is None else os.fspath(out), settings or {})
    if progress:
        print(f"{found['source']}: {found['images']} images; {', '.join(found['labels'])}")
        print(f"time: {found['time']}")
        for check in found["checks"]:
            print(f"check: {_native.python_terms(check)}")
    return found["text"]


class Run:
    """Run folder with the results of a training. train() creates it; Run(folder) opens an existing folder."""

    @_check.arguments
    def __init__(self, folder: str | os.PathLike, outcome: Mapping[str, Any] | None = None) -> None:
        self.folder = pathlib.Path(absolute(folder))
        if not self.folder.is_dir():
            _check.refuse("run", "folder", "the folder of a run", f"{str(folder)!r}, which is no folder",
                          "the folder passed to train() as out")
        self.outcome = outcome
        """Summary of the training: epochs, best metric, speed, ...; None if the run was opened from a folder."""

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    def model(self, **options: Any) -> Model:
        """Model of the best epoch. `options` are arguments of load()."""
        return load(self.folder, **options)

    @_check.arguments
    def data(self, path: str | os.PathLike | Sequence[str | os.PathLike] = ()) -> Dataset:
        """Data set of the run, with its labels, patients and splits.

        Args:
            path: Present data folder. Default: the folder used in training.
        """
        dataset = unlisted("run_dataset", (os.fspath(self.folder), [absolute_folder(one) for one in folders_of(path)]))
        dataset._native  # errors come now
        return dataset

    @_check.arguments
    def evaluate(self, split: str = "test", data: str | os.PathLike | Sequence[str | os.PathLike] = (), *,
                 allow_overlap: bool = False, replicates: int = 1000, seed: int = 0, batch: int = 32, threads: int = 0,
                 workers: int = 0, device: str = "auto", dtype: str = "f32") -> Evaluation:
        """AUROCs of the best epoch on a split, with 95% intervals by patient, like `roentgen eval`. Patients or images
        of the training data raise an error, unless allow_overlap is True.

        Args:
            split: "test", "val", or "train" (which shows memorisation, not performance on new images).
            data: Data folder with the same labels. Default: the data of the run.
            allow_overlap: True: only warn of patients or images of the training data.
            replicates: Bootstrap resamples of the patients; 0 gives no intervals.
            seed: Seed of the resamples.
            batch: Images at a time.
            threads: Compute threads; 0: all cores.
            workers: Decoding threads; 0: automatic.
            device: "cpu", "cuda", "cuda:1" or "auto" (the best available device).
            dtype: Type of the computation, as in load().

        Raises:
            DeviceError: A device that this machine or build does not have.
            ConfigError: A type that the device does not support.
            DataError: A patient or an image of the training data in the split; an empty split; an unreadable image.
            KeyboardInterrupt: After the current batch or resample.
        """
        return Evaluation(*_native.evaluate_run(self.folder, split, folders_of(data), batch, threads, workers, replicates,
                                                seed, allow_overlap, device, dtype))

    @property
    def history(self) -> pandas.DataFrame:
        """One row per finished epoch: losses, validation AUROC, seconds."""
        import pandas

        with open(self._file("log.jsonl"), encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        epochs = [record for record in records if record.pop("kind") == "epoch"]
        return pandas.DataFrame(epochs)

    @property
    def aurocs(self) -> pandas.Series:
        """AUROC of each label on the validation images, in the best epoch.

        Raises:
            DataError: No epoch is finished yet.
        """
        import pandas

        return pandas.read_csv(self._file("aucs.csv"), index_col=0).iloc[:, 0]

    def _file(self, name: str) -> pathlib.Path:
        path = self.folder / name
        if not path.is_file():
            _check.refuse("run", str(path), "a file of a run with a finished epoch", "no file",
                          "continuing the run by train(..., resume=True)", _native.DataError)
        return path


class _Progress:
    """Prints one line per epoch, and in a terminal or notebook also a progress line that is overwritten."""

    def __init__(self) -> None:
        # A file would keep all versions of the progress line.
        self._is_live = sys.stdout.isatty() or type(sys.stdout).__module__.startswith("ipykernel")
        self._last = 0.0
        self._begun: tuple[float, int] | None = None

    def __call__(self, record: Mapping[str, Any]) -> None:
        now = time.monotonic()
        kind = record["kind"]
        if kind == "data":
            print(record["text"])
        elif kind == "epoch":
            auroc = "" if record["val_auroc"] is None else f", validation AUROC {record['val_auroc']:.4f}"
            best = ", the best so far" if record["is_best"] else ""
            text = f"epoch {record['epoch'] + 1}: loss {record['train_loss']:.4f}{auroc}{best}"
            print(f"\r{text}{' ' * 30}" if self._is_live else text)
        elif not self._is_live or now - self._last < 0.5:
            return
        elif kind == "validation":
            print(f"\rvalidation {record['done']}/{record['total']}{' ' * 50}", end="")
        elif kind == "step":
            if self._begun is None:
                self._begun = (now, record["step"])
            steps = record["step"] - self._begun[1]
            left = (now - self._begun[0]) / steps * (record["total_steps"] - record["step"]) if steps else 0.0
            print(f"\repoch {record['epoch'] + 1}, step {record['step']}/{record['total_steps']}, "
                  f"loss {record['loss']:.4f}, {record['images_per_s']:.0f} images/s, "
                  f"{left / 60:.1f} minutes left      ", end="")
        self._last = now
        sys.stdout.flush()


@_check.arguments
def train(recipe: str | os.PathLike | Mapping[str, Any] = "default",
          data: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
          out: str | os.PathLike = "run", *, settings: Mapping[str, Any] | None = None,
          callbacks: Callable[[dict], Any] | Sequence[Callable[[dict], Any]] = (), resume: bool = False,
          overwrite: bool = False, progress: bool = True, device: str | None = None,
          dtype: str | None = None) -> Run:
    """Trains a network, evaluates every epoch, and keeps the best ones in a run folder for the command line, too.

    Args:
        recipe: A TOML file, a name from recipes(), TOML text as recipe() and init() return it, or nested dicts:
            {"model": {"name": "resnet18"}, "train": {"epochs": 3}}. Missing keys have their defaults.
        data: Data folder, or several folders that are read as one data set; never written to.
        out: Run folder. It may be new or empty, or contain a run to resume or overwrite.
        settings: Keys that override the recipe: {"train.epochs": 3, "optimizer.lr": 1e-4}.
        callbacks: Functions that are called with a dict for every event; its "kind" is "data", "step", "validation" or
            "epoch". An exception in a callback stops the run like an interrupt.
        resume: Continue the run in `out`, if there is one. If data is None, recipe and data of the run are used.
        overwrite: Remove the run in `out` first.
        progress: Print the progress.
        device: The setting train.device: "auto", "cpu", "cuda" or "cuda:1". None: the recipe's.
        dtype: The setting train.dtype: "f32", "bf16" or "auto", on a CUDA device also "tf32" and "f16". None: the
            recipe's.

    Returns:
        The run: its `model()`, `history` and `aurocs`.

    Raises:
        ConfigError: An unknown key, a run in `out`, or a device or type that is set twice.
        DeviceError: A device that this machine or build does not have.
        DataError: Unreadable data.
        KeyboardInterrupt: After an interrupt, when everything is saved: train(..., resume=True) continues with exactly
            the same weights.
    """
    if resume and overwrite:
        raise _native.ConfigError("[python.train] train: expected resume or overwrite, got both; "
                                  "try resume=True to keep the earlier training")
    keys = dict(settings or {})
    for name, value in (("device", device), ("dtype", dtype)):
        if value is None:
            continue
        if f"train.{name}" in keys:
            _check.refuse("train", name, "one value", f"two: {value!r} and the setting train.{name}", "one of the two")
        keys[f"train.{name}"] = value
    functions = [callbacks] if callable(callbacks) else list(callbacks)
    if progress:
        functions.insert(0, _Progress())

    def tell(record: dict) -> None:
        for function in functions:
            function(record)

    goes_on = resume and data is None
    file = "" if goes_on or isinstance(recipe, Mapping) else os.fspath(recipe)
    table = recipe if isinstance(recipe, Mapping) and not goes_on else None
    outcome = _native.train(file, None if table is None else dict(table), keys,
                            folders_of(() if data is None else data), absolute(out),
                            "resume" if resume else "overwrite" if overwrite else "", tell)
    return Run(out, outcome)
