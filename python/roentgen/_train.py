# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Training by a recipe, as `roentgen train` does."""
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
    """Built-in recipes: name, and a line that says what it is for. train() takes the names."""
    return {recipe["name"]: recipe["summary"] for recipe in _native.recipes()}


@_check.arguments
def recipe(name: str | os.PathLike) -> str:
    """Text of a built-in recipe or of a file, as TOML with comments.

    Raises:
        ConfigError: Neither a file nor a name of recipes().
    """
    return _native.recipe_text(os.fspath(name))


def models() -> list[dict[str, Any]]:
    """Built-in networks, each with name, summary, parameters, multiply_adds of one gray image, and image_px, the side
    of the images that it was made for. `pandas.DataFrame(roentgen.models())` makes a table."""
    return _native.models()


@_check.arguments
def init(path: str | os.PathLike, out: str | os.PathLike | None = None, *,
         settings: Mapping[str, Any] | None = None, progress: bool = True) -> str:
    """Looks at a folder of images and proposes a recipe for it, as `roentgen init` does: labels, patients, split, views,
    image size, network, and the hours that training takes on this machine, which it measures for some 15 seconds.

    Args:
        path: Folder of images with a table (comma, semicolon or tab), of a folder for each class, or a known data set.
        out: File to write the recipe to; it must not exist. None: no file.
        settings: Keys of [data] that are known already: {"data.csv": "findings.csv", "data.patient": "MRN"}.
        progress: Print the expected time and what to check.

    Returns:
        The recipe as TOML, each value with its reason. train(recipe, path, ...) and Dataset(path, recipe=recipe) take
        the text or the file.

    Raises:
        DataError: A folder that cannot be read, or images without labels.
        ConfigError: `out` exists, lies in the folder, or in a folder that is absent.
    """
    found = _native.init(os.fspath(path), "" if out is None else os.fspath(out), settings or {})
    if progress:
        print(f"{found['source']}: {found['images']} images; {', '.join(found['labels'])}")
        print(f"time: {found['time']}")
        for check in found["checks"]:
            print(f"check: {_native.python_terms(check)}")
    return found["text"]


class Run:
    """A run folder: what training left. train() makes one; Run(folder) opens one from before."""

    @_check.arguments
    def __init__(self, folder: str | os.PathLike, outcome: Mapping[str, Any] | None = None) -> None:
        self.folder = pathlib.Path(absolute(folder))
        if not self.folder.is_dir():
            _check.refuse("run", "folder", "the folder of a run", f"{str(folder)!r}, which is no folder",
                          "the folder that train() was given as out")
        self.outcome = outcome
        """The program's JSON: epochs, best figure, speed, ...; None for a run from before."""

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    def model(self, **options: Any) -> Model:
        """The best epoch's model; options as load()."""
        return load(self.folder, **options)

    @_check.arguments
    def data(self, path: str | os.PathLike | Sequence[str | os.PathLike] = ()) -> Dataset:
        """The data as the run was trained on them: its labels, patients and splits.

        Args:
            path: Where the data lie now. Default: where they lay.
        """
        dataset = unlisted("run_dataset", (os.fspath(self.folder), [absolute_folder(one) for one in folders_of(path)]))
        dataset._native  # errors come now
        return dataset

    @_check.arguments
    def evaluate(self, split: str = "test", data: str | os.PathLike | Sequence[str | os.PathLike] = (), *,
                 allow_overlap: bool = False, replicates: int = 1000, seed: int = 0, batch: int = 32, threads: int = 0,
                 workers: int = 0, device: str = "auto", dtype: str = "f32") -> Evaluation:
        """AUROCs of the best epoch on a split, with 95% intervals by patient: the lines and figures of `roentgen eval`.
        Patients or images that were trained on are refused, unless asked.

        Args:
            split: "test", "val", or "train" (which tells what was memorised).
            data: A data folder with labels of these names. Default: the run's own.
            allow_overlap: True: warn of patients or images that were trained on, instead of refusing them.
            replicates: Resamples of the patients; 0 gives no intervals.
            seed: Of the resamples.
            batch: Images at a time.
            threads: Compute threads; 0: all cores.
            workers: Decoding threads; 0: as many as there are cores for them.
            device: "auto", "cpu", "cuda" or "cuda:1": what computes. "auto": the best that there is.
            dtype: Type to compute in, as in load().

        Raises:
            DeviceError: A device that this machine or build lacks.
            ConfigError: A type that the device does not compute in.
            DataError: A patient or an image of the split was trained on; no images in the split; an unreadable image.
            KeyboardInterrupt: After the batch or the resample in work.
        """
        return Evaluation(*_native.evaluate_run(self.folder, split, folders_of(data), batch, threads, workers, replicates,
                                                seed, allow_overlap, device, dtype))

    @property
    def history(self) -> pandas.DataFrame:
        """A row an epoch: losses, validation AUROC, seconds. No row before the first epoch has ended."""
        import pandas

        with open(self._file("log.jsonl"), encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        epochs = [record for record in records if record.pop("kind") == "epoch"]
        return pandas.DataFrame(epochs)

    @property
    def aurocs(self) -> pandas.Series:
        """AUROC of each label on the validation images, by the best epoch.

        Raises:
            DataError: No epoch has ended yet.
        """
        import pandas

        return pandas.read_csv(self._file("aucs.csv"), index_col=0).iloc[:, 0]

    def _file(self, name: str) -> pathlib.Path:
        path = self.folder / name
        if not path.is_file():
            _check.refuse("run", str(path), "a file of a run with a finished epoch", "no file",
                          "train(..., resume=True), which goes on with the run", _native.DataError)
        return path


class _Progress:
    """One line an epoch and, in a terminal or a notebook, a line that is written over meanwhile."""

    def __init__(self) -> None:
        # A file would keep every state of a line that is written over.
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
    """Trains a network, evaluates every epoch, and keeps the best in a run folder that the command line reads as well.

    Args:
        recipe: A TOML file, the name of one of recipes(), TOML text of several lines as recipe() and init() return it,
            or nested dicts: {"model": {"name": "resnet18"}, "train": {"epochs": 3}}. What is absent has its default.
        data: Data folder, or several that are read as one; never written to.
        out: Run folder to make; one that is there must be empty, or hold a run to resume or overwrite.
        settings: Keys over the recipe: {"train.epochs": 3, "optimizer.lr": 1e-4}.
        callbacks: Functions that are given a dict for everything that happens; its "kind" is "data", "step",
            "validation" or "epoch". An exception in one of them stops the run as an interrupt does.
        resume: Go on with the run in `out`, if it has begun. Recipe and data are then the run's own where data is None.
        overwrite: Remove the run in `out` first.
        progress: Print how far it is.
        device: The setting train.device: "auto", "cpu", "cuda" or "cuda:1". None: the recipe's.
        dtype: The setting train.dtype: "f32", "bf16" or "auto", on a CUDA device also "tf32" and "f16". None: the
            recipe's.

    Returns:
        The run: its `model()`, `history` and `aurocs`.

    Raises:
        ConfigError: A key that does not exist, a run in `out`, a device or type that is set twice.
        DeviceError: A device that this machine or build lacks.
        DataError: Data that cannot be read.
        KeyboardInterrupt: After an interrupt, once everything is saved: train(..., resume=True) goes on with the very
            same weights.
    """
    if resume and overwrite:
        raise _native.ConfigError("[python.train] train: expected resume or overwrite, got both; "
                                  "try resume=True to keep what was trained")
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
