# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Loader: batches of a Dataset, decoded and augmented by the program's own threads."""
from __future__ import annotations

import hashlib
import sys
from typing import Any, Iterator, Mapping

from roentgen import _native
from roentgen._dataset import Dataset

_FRAMEWORKS = ("torch", "numpy", "jax")


def _converter(framework: str | None):
    """The function that makes a framework's array of one of numpy, without a copy."""
    if framework is None:
        framework = "torch" if "torch" in sys.modules else "numpy"
    if framework == "torch":
        import torch
        return torch.from_numpy
    if framework == "jax":
        import jax
        return jax.dlpack.from_dlpack
    if framework == "numpy":
        return lambda array: array
    raise _native.ConfigError(f"[python.loader] framework: expected one of {', '.join(_FRAMEWORKS)}, got {framework}; "
                              f"try framework=\"numpy\"")


class Loader:
    """Batches (images, labels) of a data set, as torch.utils.data.DataLoader gives them, from C++ threads that decode,
    resize, distort and normalise ahead of the training step.

    images: (N, channels, size, size), normalised float32, or uint8 gray levels 0 to 255.
    labels: (N, K) float32: 1, 0, and NaN where unknown. `roentgen.Dataset.labels` names the columns.

    A training split is shuffled anew in every epoch, distorted if asked, and its last images that fill no batch are
    left out; other splits come once, in order, as they are, the last batch shorter. Which images a batch holds, and
    how they are distorted, depends on the seed and the epoch alone, not on workers. A batch stays what it is for as
    long as anything refers to it. Iterate one after the other: a new iteration ends the one before.

    Args:
        dataset: Its split is read; all images where it has none.
        batch: Images of a batch, on this rank.
        size: Width and height of the images.
        channels: 1 (gray) or 3. Default: the preset's.
        preset: Normalisation: "xray", "imagenet" (torchvision's weights), "xrv" (torchxrayvision's) or "unit".
        preprocess: All keys of a recipe's [preprocess] section, instead of size, channels and preset:
            `roentgen.load(...).preprocessing`, for instance.
        augment: Keys of a recipe's [augment] section: dict(rotate=10, translate=0.05, flip=0.5). Training alone.
        seed: Of order and distortions.
        rank, ranks: This process among those that share the images.
        workers: Decoding threads, or "auto": as many as this process has cores, fewer where that is as fast.
        dtype: "float32" or "uint8".
        device: "cpu". "cuda" is refused until batches are made on the GPU.
        shuffle: Is it training? Default: whether the split is "train".
        tail: Last images that fill no batch: "drop" or "wrap" in training, "pad" (a shorter batch) otherwise.
        framework: "torch", "numpy" or "jax". Default: torch where the program has imported it, else numpy.
        max_bad: Share of unreadable images that training may meet; they are replaced and listed in `bad`.

    Raises:
        ConfigError: A wrong option, or fewer images than a batch.
        DataError: While iterating: an unreadable image, beyond max_bad of them in training.

    Example:
        >>> loader = roentgen.Loader(data["train"], batch=64, size=224, augment={"rotate": 10})
        >>> for epoch in range(10):
        ...     for images, labels in loader:
        ...         known = ~labels.isnan()
    """

    def __init__(self, dataset: Dataset, batch: int = 64, size: int = 224, channels: int | None = None,
                 preset: str = "xray", preprocess: Mapping[str, Any] | None = None,
                 augment: Mapping[str, Any] | None = None, seed: int = 0, rank: int = 0, ranks: int = 1,
                 workers: int | str = "auto", dtype: str = "float32", device: str = "cpu",
                 shuffle: bool | None = None, tail: str | None = None, framework: str | None = None,
                 max_bad: float = 0.001) -> None:
        if device != "cpu":
            raise _native.DeviceError(f"[python.loader] device: expected cpu, got {device}; "
                                      "try device=\"cpu\" and images.to(\"cuda\", non_blocking=True)")
        self.dataset = dataset
        self.batch_size = batch
        self.seed = seed
        self._rank = rank
        self._convert = _converter(framework)
        self._is_training = dataset.split == "train" if shuffle is None else shuffle
        table = dict(preprocess) if preprocess is not None else {"preset": preset, "size": size}
        if preprocess is None and channels is not None:
            table["channels"] = channels
        self._feed = _native.make_feed(dataset._native, dataset._indices, {
            "training": self._is_training, "batch": batch, "tail": tail or ("drop" if self._is_training else "pad"),
            "rank": rank, "ranks": ranks, "workers": 0 if workers == "auto" else workers, "seed": seed, "dtype": dtype,
            "preprocess": table, "augment": dict(augment or {}), "max_bad": float(max_bad)})
        self._is_resumed = False
        self._iteration = 0

    def __len__(self) -> int:
        """Batches of an epoch."""
        return self._feed.steps_per_epoch()

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """One epoch: the next one, or what is left of the one that load_state_dict() told."""
        if not self._is_resumed:
            self._feed.skip_to_next_epoch()
        self._is_resumed = False
        self._iteration += 1
        return self._batches(self._iteration)

    def _batches(self, iteration: int) -> Iterator[tuple[Any, Any]]:
        while True:
            if iteration != self._iteration:
                raise _native.ConfigError("[python.loader] iteration: expected the last one that was begun, got one "
                                          "before it; try a Loader for each of two loops")
            batch = self._feed.next()
            if batch is None:
                return
            images, labels, self._samples = batch
            yield self._convert(images), self._convert(labels)

    @property
    def epoch(self) -> int:
        """Epoch of the next batch, from 0."""
        return self._feed.state()["epoch"]

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is that epoch, from its beginning."""
        state = self._feed.state()
        self._feed.restore({**state, "epoch": epoch, "batch": 0, "seen": []}, self._rank)
        self._is_resumed = True

    @property
    def stats(self) -> dict[str, float]:
        """Images so far, seconds that iterations waited for batches (`wait_s`: near 0 where training is the slower part),
        and seconds of reading, decoding and resizing over all threads."""
        return self._feed.stats()

    @property
    def bad(self) -> list[int]:
        """Positions in `dataset.frame` of the images that could not be read so far, and were replaced."""
        position = {index: i for i, index in enumerate(self.dataset._indices)}
        return [position[index] for index in self._feed.state()["bad"]]

    def state_dict(self) -> dict[str, Any]:
        """The place of the next batch, of numbers and text alone. The batches that were made ahead are made again."""
        return {"version": 1, "seed": self.seed, "samples": self._digest(), **self._feed.state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next iteration goes on there, with the very batches that would have come. With another batch size or
        number of ranks it gives the rest of the epoch's images.

        Raises:
            ConfigError: The state is of other images or another seed.
        """
        own = self.state_dict()
        for key, what in (("version", "version"), ("seed", "seed"), ("samples", "images")):
            if state.get(key) != own[key]:
                raise _native.ConfigError(f"[python.loader] state: expected the {what} of this loader, got "
                                          f"{state.get(key)}; try the data set and seed that the state is of")
        self._feed.restore(dict(state), self._rank)
        self._is_resumed = True

    def _digest(self) -> str:
        names = "\n".join(self.dataset._native.names(self.dataset._indices))
        return hashlib.sha256(names.encode()).hexdigest()
