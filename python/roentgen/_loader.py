# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Loader: batches of a Dataset, decoded and augmented by the program's own threads."""
from __future__ import annotations

import hashlib
import sys
import threading
from typing import Any, Iterator, Mapping

from roentgen import _check, _native
from roentgen._dataset import Dataset

_FRAMEWORKS = ("torch", "numpy", "jax")


def _converter(framework: str | None):
    """The function that makes a framework's array of one of numpy, without a copy."""
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
        _check.refuse("loader", "framework", "one that is installed", f"{framework}, which is not",
                      f'pip install {framework}, or framework="numpy"')
    return lambda array: array


def _require_same(own: Mapping[str, Any], other: Any, place: str = "") -> None:
    """ConfigError that names the first entry in which a state is of another loader."""
    for key, value in own.items():
        name, given = f"{place}{key}", other.get(key) if isinstance(other, Mapping) else None
        if isinstance(value, dict):
            _require_same(value, given, f"{name}.")
        elif given != value:
            shown = (value, given) if key != "images" else ("those", "others")
            _check.refuse("loader", f"state, {name}", f"{shown[0]} of this loader", f"{shown[1]}",
                          "a loader with the data and the options that the state is of")


class Loader:
    """Batches (images, labels) of a data set, as torch.utils.data.DataLoader gives them, from C++ threads that decode,
    resize, distort and normalise ahead of the training step.

    images: (N, channels, size, size), normalised float32, or uint8 gray levels 0 to 255.
    labels: (N, K) float32: 1, 0, and NaN where unknown. `roentgen.Dataset.labels` names the columns.

    The split "train" is shuffled anew in every epoch and distorted if asked, and its last images that fill no batch
    are left out. Other splits come once, in order, as they are; their last batch is shorter. Which images a batch
    holds, and how they are distorted, depends on the seed and the epoch alone, not on workers. A batch stays what it is
    for as long as anything refers to it. Iterate one after the other: a new iteration ends the one before. A Loader
    cannot be pickled; its Dataset can.

    Args:
        dataset: Data set to read: its split, or all images where it has none.
        batch: Images of a batch, on this rank.
        size: Width and height of the images, in pixels.
        channels: 1 (gray) or 3. Default: the preset's.
        preset: Normalisation: "xray", "imagenet" (torchvision's weights), "xrv" (torchxrayvision's) or "unit" (0 to 1).
        preprocess: All keys of a recipe's [preprocess] section, instead of size, channels and preset:
            `roentgen.load(...).preprocessing`, for instance.
        augment: Random distortions, keys of a recipe's [augment] section: dict(rotate=10, translate=0.05, flip=0.5), in
            degrees, shares of the width, and a probability. Used where images are shuffled.
        seed: Start of all random numbers, 0 or more: of the order and of the distortions.
        rank: Number of this process, from 0 to ranks - 1, where several train one model together. In PyTorch:
            torch.distributed.get_rank().
        ranks: Number of these processes (the world size). Each gets its own part of every epoch's images.
        workers: Decoding threads, 1 to 1024. "auto": as many as this process has cores, fewer where that is as fast.
        dtype: "float32" or "uint8".
        device: "cpu". "cuda" is refused until batches are made on the GPU.
        shuffle: True: a new order in every epoch, with augment and max_bad, as for training. False: in order, as they
            are. Default: True for the split "train".
        tail: Last images that fill no batch: "drop" leaves them out, "wrap" fills the batch with the epoch's first
            images, "pad" gives a shorter batch. Default: "drop" where images are shuffled, else "pad".
        framework: "torch", "numpy" or "jax". Default: torch where the program has imported it, else numpy.
        max_bad: Share of unreadable images, 0 to 1, that shuffled loaders replace by others and list in `bad`. Loaders
            that do not shuffle replace none.

    Raises:
        ConfigError: A wrong argument, by name, or fewer images than a batch.
        DeviceError: A device that is no "cpu".
        DataError: While iterating: an unreadable image; of shuffled loaders more of them than max_bad.

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
            _check.refuse("loader", "preprocess", "it alone", "size, channels or preset beside it",
                          "these keys in preprocess")
        if preprocess is None:
            preprocess = {"preset": preset, "size": size, **({} if channels is None else {"channels": channels})}
        self._feed = _native.make_feed(dataset._native, dataset._indices, {
            "shuffle": shuffle, "batch": batch, "tail": tail or ("drop" if shuffle else "pad"), "rank": rank,
            "ranks": ranks, "workers": 0 if workers == "auto" else workers, "seed": seed, "dtype": dtype,
            "preprocess": preprocess, "augment": augment or {}, "max_bad": max_bad})
        self._is_resumed = False
        self._iteration = 0
        self._lock = threading.Lock()  # an iteration ends before another takes a batch

    def __len__(self) -> int:
        """Batches of a whole epoch on this rank, as PyTorch counts. After load_state_dict() the first iteration gives
        only those that are left of its epoch."""
        return self._feed.steps_per_epoch()

    def __reduce__(self):
        _check.refuse("loader", "pickle", "a Loader in the process that made it", "one that another process should get",
                      "pickling its Dataset, and a Loader made there")

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yields (images, labels) of one epoch: the next one, or the rest of the one that load_state_dict() resumed."""
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
                    _check.refuse("loader", "iteration", "the last one that was begun", "one before it",
                                  "a Loader for each of two loops")
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
        """Makes the next iteration that epoch, from its beginning.

        Args:
            epoch: Number of the epoch, from 0.
        """
        self._feed.restore({**self._feed.place(), "epoch": epoch, "batch": 0, "seen": []})
        self._is_resumed = True

    @property
    def stats(self) -> dict[str, float]:
        """Counts so far: `images`; `wait_s`, seconds that iterations waited for batches (near 0 where training is the
        slower part); `read_s`, `decode_s` and `transform_s`, seconds of reading files, decoding and resizing, summed
        over all threads; `read_bytes`."""
        return self._feed.stats()

    @property
    def bad(self) -> list[int]:
        """Positions in `dataset.frame` of the images that could not be read so far, and were replaced."""
        position = {index: i for i, index in enumerate(self.dataset._indices)}
        return [position[index] for index in self._feed.place()["bad"]]

    def state_dict(self) -> dict[str, Any]:
        """The place of the next batch and the options that decide what it holds: numbers, text, lists and dicts alone,
        so it can be stored as JSON. Batches that were made ahead are made again."""
        return {**self._identity(), **self._feed.place()}

    @_check.arguments
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next iteration go on there, with the very batches that would have come. With another batch size or
        number of ranks it gives the rest of the epoch's images.

        Args:
            state: A state_dict() of a loader of the same images, seed, shuffle, preprocessing, augment and dtype.

        Raises:
            ConfigError: A state of another loader. The error names what differs; this loader stays as it was.
        """
        _require_same(self._identity(), state)
        self._feed.restore({key: state.get(key) for key in self._feed.place()})
        self._is_resumed = True

    def _identity(self) -> dict[str, Any]:
        """Entries that a state must have in common with a loader."""
        return {"version": 2, "images": self._digest(), **self._feed.settings()}

    def _digest(self) -> str:
        names = "\n".join(self.dataset._native.names(self.dataset._indices))
        return hashlib.sha256(names.encode()).hexdigest()
