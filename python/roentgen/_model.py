# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Models that predict, and heat-maps of where they see a finding."""
from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, Iterable

from roentgen import _native

if TYPE_CHECKING:
    import numpy
    import pandas


def _paths(images: Any) -> list[str] | None:
    """Paths, or None where `images` are arrays."""
    if isinstance(images, (str, os.PathLike)):
        return [os.fspath(images)]
    if hasattr(images, "ndim") or hasattr(images, "__array__"):
        return None
    images = list(images)
    return [os.fspath(image) for image in images] if images and isinstance(images[0], (str, os.PathLike)) else None


def _arrays(images: Any) -> list[numpy.ndarray]:
    """Contiguous arrays, one an image."""
    import numpy

    shape = tuple(getattr(images, "shape", ()))
    if len(shape) == 3 and shape[2] == 4:
        raise _native.ConfigError(f"[python.image] array: expected gray levels or three colours, got shape {shape}; "
                                  "try array[..., :3] of a picture with alpha")
    if len(shape) == 2 or (len(shape) == 3 and shape[2] == 3):
        images = [images]
    return [numpy.ascontiguousarray(numpy.asarray(image)) for image in images]


@dataclasses.dataclass(repr=False)
class Heatmap:
    """Where a network sees a finding in a picture. A notebook shows the overlay."""

    values: numpy.ndarray
    """(height, width) of the picture: how much each pixel speaks for the finding; NaN outside of the network's crop."""
    picture: numpy.ndarray
    """(height, width) gray levels 0 to 255."""
    overlay: numpy.ndarray
    """(height, width, 3): the picture under the map's colours."""
    probability: float
    """Probability of the finding."""
    finding: str
    """Name of the label."""
    method: str
    """"cam" or "grad-cam"."""

    def __repr__(self) -> str:
        height, width = self.values.shape
        return f"Heatmap({self.finding!r}, {width} x {height}, probability={self.probability:.3f}, {self.method})"

    def _repr_png_(self) -> bytes:
        return _native.encode_png(self.overlay)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the overlay as a PNG file."""
        with open(path, "wb") as file:
            file.write(self._repr_png_())


class Model:
    """A trained network with its labels and its preprocessing. load() makes one. Threads may share it; calls are
    served one after the other."""

    def __init__(self, native: Any, path: str) -> None:
        self._native = native
        self.path = path

    def __repr__(self) -> str:
        return f"Model({self.path!r}, labels={len(self.labels)}, input={self._native.preprocess_text!r})"

    @property
    def labels(self) -> list[str]:
        """Names of the findings, in the order of the outputs."""
        return self._native.labels

    @property
    def preprocessing(self) -> dict[str, Any]:
        """The one definition of the network's input, as a recipe's [preprocess] section: for Loader(preprocess=...)."""
        return self._native.preprocess

    @property
    def notes(self) -> list[str]:
        """Assumptions about weights of another program: their preprocessing, labels and loss, a line each."""
        return self._native.notes

    @property
    def recipe(self) -> str:
        """Recipe of the training, as TOML."""
        return self._native.recipe

    def predict(self, images: Any) -> pandas.DataFrame:
        """Probabilities, a row an image and a column a finding.

        Args:
            images: A file (PNG, JPEG, DICOM, ...), a folder, or several; or arrays of type uint8 or uint16, whose white
                is 255 or 65535: gray levels (H, W), colours (H, W, 3), or a sequence or stack of such. The stored
                values of a DICOM file have another white: give its path instead.

        Returns:
            A data frame with the paths as its index, each as given, or below the folder that was given (positions for
            arrays): `dataset.frame.join(scores.add_suffix("_score"), on="path")` puts it beside the truth. Where files
            could not be read, their rows are NaN and `frame.attrs["unreadable"]` holds a line for each.

        Raises:
            DataError: No such file, no images below a folder, one that is named twice.
            KeyboardInterrupt: After the batch in work; what was predicted is lost.
        """
        import pandas

        names, probabilities, _, reasons = self._run(images, False)
        frame = pandas.DataFrame(probabilities, columns=self.labels, index=names or None)
        if names:
            frame.index.name = "path"
        frame.attrs["unreadable"] = {i: reason for i, reason in enumerate(reasons) if reason}
        return frame

    def features(self, images: Any) -> numpy.ndarray:
        """(N, C): means of the last feature map of each image, what the classifier sees. Arguments as predict()."""
        return self._run(images, True)[2]

    def _run(self, images: Any, has_features: bool):
        paths = _paths(images)
        if paths is not None:
            return self._native.predict_files(paths, has_features)
        return self._native.predict_images(_arrays(images), has_features)

    def heatmap(self, path: str | os.PathLike, finding: str) -> Heatmap:
        """Where the network sees `finding` in the picture of one file, in that picture's own pixels."""
        values, picture, overlay, probability, method = self._native.heatmap(os.fspath(path), finding)
        return Heatmap(values, picture, overlay, probability, finding, method)

    def export_onnx(self, out: str | os.PathLike, opset: int = 17, fold_batch_norm: bool = False) -> None:
        """Writes the network as an ONNX file, and its model card beside it as OUT.md, as `roentgen export` does. Input
        "image" (N, 1, size, size): gray levels 0 to 255, resized; outputs "probabilities" and "logits" (N, K).

        Args:
            out: File to write.
            opset: ONNX operator set, 13 to 17.
            fold_batch_norm: Batch norms become part of the convolutions before them.
        """
        self._native.export_onnx(os.fspath(out), opset, fold_batch_norm)


def load(checkpoint: str | os.PathLike, batch: int = 32, threads: int = 0, workers: int = 0, *, model: str = "",
         labels: Iterable[str] = (), preset: str = "", loss: str = "") -> Model:
    """Loads a checkpoint of a run, or weights of torchvision, timm and torchxrayvision (.pt, .pth, .ckpt, .safetensors).
    No code that a file holds is run. Weights of other programs must fit one of the program's networks in all names and
    shapes, as `roentgen convert-weights` demands, which writes them as a checkpoint.

    Args:
        checkpoint: The file, or the run folder.
        batch: Most images at a time.
        threads: Compute threads; 0: all cores.
        workers: Decoding threads; 0: as many as there are cores for them.
        model: Network of other programs' weights, "densenet121"; "": the one that fits.
        labels: Names of their outputs, in order; none: torchxrayvision's findings, or class_0, class_1, ...
        preset: Preprocessing they were trained with, "imagenet" or "xrv"; "": by the weights.
        loss: "sigmoid", or "softmax" where outputs exclude each other; "": softmax for ImageNet's 1,000 outputs.

    Raises:
        ConfigError: No such file, one that is cut short, or weights of an unknown network.
    """
    path = os.fspath(checkpoint)
    if os.path.isdir(path):
        path = os.path.join(path, "checkpoints", "best.safetensors")
    return Model(_native.Predictor(path, batch, threads, workers, model, list(labels), preset, loss), path)
