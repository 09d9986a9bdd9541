# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Loader: batches of a Dataset, decoded and augmented by C++ threads."""
from __future__ import annotations

import hashlib
import sys
import threading
from typing import Any, Iterator, Mapping

from roentgen import _check, _native
from roentgen._dataset import Dataset

_FRAMEWORKS = ("torch", "numpy", "jax")


def _converter(framework: str | None):
    """Returns the function that converts a numpy array to an array of the framework, without a copy."""
    if framework is None:
        framework = "torch" if "torch" in sys.modules else "numpy"
    if framework not in _FRAMEWORKS:
        _check.refuse("loader", "framework", " or ".join(_FRAMEWORKS), _check.described(framework), 'framework="numpy"')
    try:
        if framework == "torch":
            import torch
            return torch.from_numpy
        if framework == "jax":
            import jax
            return jax.dlpack.from_dlpack
    except ImportError:
        _check.refuse("loader", "framework", "an installed framework", f"{framework}, which is not installed",
                      f'pip install {framework}, or framework="numpy"')
    return lambda array: array


def _require_same(own: Mapping[str, Any], other: Any, place: str = "") -> None:
    """Raises ConfigError for the first entry in which a state differs from this loader."""
    for key, value in own.items():
        name, given = f"{place}{key}", other.get(key) if isinstance(other, Mapping) else None
        if isinstance(value, dict):
            _require_same(value, given, f"{name}.")
        elif given != value:
            shown = (value, given) if key != "images" else ("the images", "other images")
            _check.refuse("loader", f"state, {name}", f"{shown[0]} of this loader", f"{shown[1]}",
                          "a loader with the data and options with which the state was saved")


class Loader:
    """Iterator over batches (images, labels) of a data set, like torch.utils.data.DataLoader. C++ threads decode,
    resize, distort and normalise images ahead of the training step.

    images: (N, channels, size, size), normalised float32, or uint8 gray levels 0 to 255.
    labels: (N, K) float32: 1, 0, and NaN where unknown. `roentgen.Dataset.labels` names the columns.

    The split "train" is shuffled again in every epoch, distorted by `augment`, and its last images are omitted if they
    fill no batch. Other splits keep their order, without distortion; their last batch may be shorter. The images of a
    batch and their distortions depend only on seed and epoch, not on workers. A batch stays valid as long as it is
    referenced. A new iteration ends the previous iteration. A Loader cannot be pickled; its Dataset can.

    Args:
        dataset: Data set to read: its split, or all images if it has none.
        batch: Images per batch and process (rank).
        size: Width and height of the images, in pixels.
        channels: 1 (gray) or 3. Default: the channels of the preset.
        preset: Normalisation: "xray", "imagenet" (torchvision's weights), "xrv" (torchxrayvision) or "unit" (0 to 1).
        preprocess: All keys of a recipe's [preprocess] section, instead of size, channels and preset:
            for example `roentgen.load(...).preprocessing`.
        augment: Random distortions, keys of a recipe's [augment] section: dict(rotate=10, translate=0.05, flip=0.5), in
            degrees, fractions of the width, and a probability. Used only if images are shuffled.
        seed: Seed of the order and of the distortions, 0 or more.
        rank: Number of this process, from 0 to ranks - 1, if several processes train one model together. In PyTorch:
            torch.distributed.get_rank().
        ranks: Number of these processes (the world size). Each process gets its own part of the images of an epoch.
        workers: Decoding threads, 1 to 1024. "auto": as many as this process has cores, or fewer if that is as fast.
        dtype: "float32" or "uint8".
        device: Only "cpu". Copy batches to the GPU yourself.
        shuffle: True: a new order in every epoch, with augment and max_bad, as for training. False: the order of the
            data set, without distortion. Default: True for the split "train".
        tail: Last images of an epoch if they fill no batch: "drop" omits them, "wrap" fills the batch with the first
            images of the epoch, "pad" gives a shorter batch. Default: "drop" if images are shuffled, else "pad".
        framework: "torch", "numpy" or "jax". Default: torch if it is already imported, else numpy.
        max_bad: Largest fraction of unreadable images, 0 to 1, that shuffled loaders replace by other images and list
            in `bad`. Loaders without shuffling raise an error instead.

    Raises:
        ConfigError: A wrong argument, which the error names, or fewer images than a batch.
        DeviceError: A device other than "cpu".
        DataError: While iterating: an unreadable image, or more than max_bad in a shuffled loader.

    Example:
        >>> loader = roentgen.Loader(data["train"], batch=64, size=224, augment={"rotate": 10})
        >>> for epoch in range(10):
        ...     for images, labels in loader:
        ...         known = ~labels.isnan()  # numpy: ~numpy.isnan(labels)
    """

    @_check.arguments
    def __init__(self, dataset: Dataset, batch: int = 64, size: int = 224, channels: int | None = None,
                 preset: str = "xray", preprocess: Mapping[str, Any] | None = None,
                 augment: Mapping[str, Any] | None = None, seed: int = 0, rank: int = 0, ranks: int = 1,
                 workers: int | str = "auto", dtype: str = "float32", device: str = "cpu",
                 shuffle: bool | None = None, tail: str | None = None, framework: str | None = None,
                 max_bad: float = 0.001) -> None:
        if device != "cpu":
            _check.refuse("loader", "device", "cpu", device,
                          'device="cpu" and images.to("cuda", non_blocking=True)', _native.DeviceError)
        if isinstance(workers, str) and workers != "auto":
            _check.refuse("loader", "workers", "a number from 1 to 1024 or auto", repr(workers), 'workers="auto"')
        self.dataset = dataset
        self.batch_size = batch
        self.seed = seed
        self._convert = _converter(framework)
        if shuffle is None:
            shuffle = dataset.split == "train"
        if preprocess is not None and (size, channels, preset) != (224, None, "xray"):
            _check.refuse("loader", "preprocess", "no other size, channels or preset", "both",
                          "writing these keys in preprocess")
        if preprocess is None:
            preprocess = {"preset": preset, "size": size, **({} if channels is None else {"channels": channels})}
        self._feed = _native.make_feed(dataset._native, dataset._indices, {
            "shuffle": shuffle, "batch": batch, "tail": tail or ("drop" if shuffle else "pad"), "rank": rank,
            "ranks": ranks, "workers": 0 if workers == "auto" else workers, "seed": seed, "dtype": dtype,
            "preprocess": preprocess, "augment": augment or {}, "max_bad": max_bad})
        self._is_resumed = False
        self._iteration = 0
        self._lock = threading.Lock()  # taking a batch and starting another iteration exclude each other

    def __len__(self) -> int:
        """Number of batches of a whole epoch on this rank. After load_state_dict(), the first iteration gives only the
        remaining batches of its epoch."""
        return self._feed.steps_per_epoch()

    def __reduce__(self):
        _check.refuse("loader", "pickle", "a Loader in the process that created it", "a Loader for another process",
                      "pickling its Dataset and creating a Loader there")

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yields (images, labels) of the next epoch, or of the rest of the epoch that load_state_dict() resumed."""
        with self._lock:
            if not self._is_resumed:
                self._feed.skip_to_next_epoch()
            self._is_resumed = False
            self._iteration += 1
            return self._batches(self._iteration)

    def _batches(self, iteration: int) -> Iterator[tuple[Any, Any]]:
        while True:
            with self._lock:
                if iteration != self._iteration:
                    _check.refuse("loader", "iteration", "the iteration started last", "an earlier one",
                                  "a separate Loader for each loop")
                batch = self._feed.next()
            if batch is None:
                return
            images, labels, self._samples = batch
            yield self._convert(images), self._convert(labels)

    @property
    def epoch(self) -> int:
        """Epoch of the next batch, from 0."""
        return self._feed.place()["epoch"]

    @_check.arguments
    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration start at the beginning of an epoch.

        Args:
            epoch: Number of the epoch, from 0.
        """
        self._feed.restore({**self._feed.place(), "epoch": epoch, "batch": 0, "seen": []})
        self._is_resumed = True

    @property
    def stats(self) -> dict[str, float]:
        """Counts so far: `images`; `wait_s`, seconds that iterations waited for batches (near 0 if training is slower
        than loading); `read_s`, `decode_s` and `transform_s`, seconds of reading files, decoding and resizing, summed
        over all threads; `read_bytes`."""
        return self._feed.stats()

    @property
    def bad(self) -> list[int]:
        """Positions in `dataset.frame` of the unreadable images that were replaced so far."""
        position = {index: i for i, index in enumerate(self.dataset._indices)}
        return [position[index] for index in self._feed.place()["bad"]]

    def state_dict(self) -> dict[str, Any]:
        """Returns the position of the next batch and the options that determine its content. It has only numbers, text,
        lists and dicts, so it can be stored as JSON. Prefetched batches are loaded again after resuming."""
        return {**self._identity(), **self._feed.place()}

    @_check.arguments
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next iteration continue at the position of `state` with exactly the same batches. With another
        batch size or number of ranks, it gives the remaining images of the epoch.

        Args:
            state: state_dict() of a loader with the same images, seed, shuffle, preprocessing, augment and dtype.

        Raises:
            ConfigError: The state does not fit this loader. The error names the difference; the loader stays unchanged.
        """
        _require_same(self._identity(), state)
        self._feed.restore({key: state.get(key) for key in self._feed.place()})
        self._is_resumed = True

    def _identity(self) -> dict[str, Any]:
        """Entries that a state must share with this loader."""
        return {"version": 2, "images": self._digest(), **self._feed.settings()}

    def _digest(self) -> str:
        names = "\n".join(self.dataset._native.names(self.dataset._indices))
        return hashlib.sha256(names.encode()).hexdigest()
