# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Models that predict, and heat-maps of where they see a finding."""
from __future__ import annotations

import dataclasses
import os
import warnings
from typing import TYPE_CHECKING, Any, Sequence

from roentgen import _check, _native
from roentgen._dataset import Dataset, absolute

if TYPE_CHECKING:
    import numpy
    import pandas

_LEAST_SHOWN_PX = 512


def _listed(images: Any) -> list:
    """One entry an image, or a path that stands for several."""
    if isinstance(images, Dataset):
        images = list(images.frame.path)
    if hasattr(images, "columns"):
        _check.refuse("model", "images", "files, folders or arrays", "a data frame", "list(frame.path)")
    shape = getattr(images, "shape", None)
    is_one = isinstance(images, (str, bytes, os.PathLike)) or hasattr(images, "getbands")  # the latter of Pillow
    if is_one or (shape is not None and (len(shape) in (0, 2) or (len(shape) == 3 and shape[2] in (1, 3, 4)))):
        return [images]
    try:
        listed = list(images)
    except TypeError:
        _check.refuse("model", "images", "files, folders or arrays", _check.described(images),
                      "a path or a numpy array")
    if not listed:
        _check.refuse("model", "images", "at least one image", "none", "a path or a numpy array")
    return listed


def _path(name: str, image: Any) -> str:
    if not isinstance(image, (str, os.PathLike)):
        _check.refuse("model", name, "a path as the first", _check.described(image), "paths or arrays alone")
    path = os.fspath(image)
    return absolute(path) if os.path.isdir(path) else path  # names below it join those of Dataset.frame


def _array(name: str, image: Any) -> numpy.ndarray:
    """One image as an array of its own rows, in this machine's order of bytes."""
    import numpy

    mode = getattr(image, "mode", "L") if hasattr(image, "getbands") else "L"
    if mode not in ("L", "I;16", "RGB"):  # others are indices of a palette, have alpha, or another white
        _check.refuse("model", name, "a picture of mode L, I;16 or RGB", f"mode {mode}", 'image.convert("L")')
    try:
        array = numpy.asarray(image)
    except (TypeError, ValueError):  # of a GPU, say
        array = numpy.asarray(None)
    kind = array.dtype.newbyteorder("=")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    has_form = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if not has_form or array.size == 0 or kind not in (numpy.uint8, numpy.uint16):
        _check.refuse("model", name, "gray levels (H, W) or colours (H, W, 3) of type uint8 or uint16",
                      _check.described(image), "values to 255 or 65535, and array[..., :3] of a picture with alpha")
    if kind == numpy.uint16 and 255 < array.max() < 4096:
        warnings.warn(f"{name}: values to {array.max()}, where white is 65535; try array * 16 for levels of 12 bits",
                      stacklevel=5)
    return numpy.ascontiguousarray(array, dtype=kind)


def _enlarged(colours: numpy.ndarray) -> numpy.ndarray:
    """(H, W, 3) as it is, or stretched bilinearly by a whole factor, so that its longer side has 512 pixels or more."""
    import numpy

    factor = -(-_LEAST_SHOWN_PX // max(colours.shape[:2]))
    for axis in (0, 1) if factor > 1 else ():
        size = colours.shape[axis]
        place = numpy.clip((numpy.arange(size * factor) + 0.5) / factor - 0.5, 0, size - 1)
        below = place.astype(int)
        share = (place - below).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        above = colours.take(numpy.minimum(below + 1, size - 1), axis)
        colours = colours.take(below, axis) * (1 - share) + above * share
    return numpy.rint(colours).astype(numpy.uint8)


@dataclasses.dataclass(repr=False, eq=False)
class Heatmap:
    """Heat-map of a finding in a picture. A notebook shows the overlay.

    Attributes:
        values: (height, width) of the picture, float32: evidence of each pixel for the finding; NaN outside of the
            network's crop.
        picture: (height, width) gray levels 0 to 255, uint8.
        overlay: (height, width, 3) uint8: the picture under the map's colours.
        probability: Probability of the finding.
        finding: Name of the label.
        method: "cam" or "grad-cam".
        source: Absolute path of the picture's file, which save() does not replace.
    """

    values: numpy.ndarray
    picture: numpy.ndarray
    overlay: numpy.ndarray
    probability: float
    finding: str
    method: str
    source: str = ""

    def __repr__(self) -> str:
        height, width = self.values.shape
        return f"Heatmap({self.finding!r}, {width} x {height}, probability={self.probability:.3f}, {self.method})"

    def _repr_png_(self) -> bytes:
        return _native.encode_png(_enlarged(self.overlay))

    @_check.arguments
    def save(self, path: str | os.PathLike) -> None:
        """Writes the overlay as a PNG file, in the picture's own pixels; of a smaller picture enlarged to 512 or more.

        Args:
            path: File to write; its name ends in .png.

        Raises:
            ConfigError: Another ending, the picture's own file, or a file that cannot be written.
        """
        path = os.fspath(path)
        if not path.lower().endswith(".png"):
            _check.refuse("model", "path", "a file name that ends in .png", repr(path), 'heat.save("heat.png")')
        if self.source and os.path.realpath(path) == os.path.realpath(self.source):
            _check.refuse("model", "path", "a file of its own", f"{path!r}, the picture itself",
                          "the name of another file")
        try:
            with open(path, "wb") as file:
                file.write(self._repr_png_())
        except OSError as error:
            _check.refuse("model", "path", "a file that can be written", f"{path!r} ({error.strerror})",
                          "another folder")


class Model:
    """A trained network with its labels and its preprocessing. load() makes one. Threads may share it; calls are
    served one after the other. It can be pickled: the other process loads the file again."""

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        self.path = path
        self._options = options
        self._loaded: Any = None

    @property
    def _native(self) -> Any:
        """The network. That of a pickled model is loaded at its first use, where an error has someone to tell."""
        if self._loaded is None:
            self._loaded = _native.Predictor(self.path, *self._options.values())
        return self._loaded

    def __reduce__(self):
        return Model, (self.path, self._options)

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
    def dtype(self) -> str:
        """Type in which the network computes: "f32", or what load() was asked for."""
        return self._native.dtype

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
            images: A file (PNG, JPEG, DICOM, ...), a folder, or several of them. Or pictures in memory, one or several:
                arrays of type uint8 (white is 255) or uint16 (white is 65535), gray levels (H, W), colours (H, W, 3) or
                a stack (N, H, W) or (N, H, W, 3), and Pillow's images of mode L, I;16 or RGB. The stored values of a
                DICOM file have another white: give its path instead.

        Returns:
            A data frame of float32, (N, K), with the paths as its index: of files as given, below folders absolute as in
            Dataset.frame (positions for pictures in memory). `dataset.frame.join(scores.add_suffix("_score"),
            on="path")` puts it beside the truth. Where files could not be read, their rows are NaN, a RuntimeWarning
            counts them, and `frame.attrs["unreadable"]` holds a line for each.

        Raises:
            ConfigError: Pictures of another type or form, or no image at all.
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
        """Input of the classifier: (N, C) float32, means over the last feature map of each image. Arguments and errors
        as predict()."""
        return self._run(images, True)[2]

    def _run(self, images: Any, has_features: bool):
        listed = _listed(images)
        is_of_files = isinstance(listed[0], (str, os.PathLike))
        run = self._native.predict_files if is_of_files else self._native.predict_images
        read = _path if is_of_files else _array
        result = run([read(f"images[{i}]", image) for i, image in enumerate(listed)], has_features)
        unreadable = [reason for reason in result[3] if reason]
        if unreadable:
            warnings.warn(f"{len(unreadable)} of {len(result[3])} images could not be read and are NaN, the first: "
                          f"{unreadable[0]}", RuntimeWarning, stacklevel=3)
        return result

    @_check.arguments
    def heatmap(self, path: str | os.PathLike, finding: str) -> Heatmap:
        """Class activation map of a finding for the picture of one file, in that picture's own pixels.

        Args:
            path: File of the picture (PNG, JPEG, DICOM, ...).
            finding: Name of a label, one of `labels`.

        Raises:
            ConfigError: No such label.
            DataError: A file that cannot be read.
        """
        values, picture, overlay, probability, method = self._native.heatmap(os.fspath(path), finding)
        return Heatmap(values, picture, overlay, probability, finding, method, os.path.abspath(path))

    @_check.arguments
    def export_onnx(self, out: str | os.PathLike, opset: int = 17, fold_batch_norm: bool = False) -> None:
        """Writes the network as an ONNX file, and its model card beside it as OUT.md, as `roentgen export` does. Input
        "image" (N, 1, size, size): gray levels 0 to 255, resized; outputs "probabilities" and "logits" (N, K).

        Args:
            out: File to write.
            opset: ONNX operator set, 13 to 17.
            fold_batch_norm: True: batch norms become part of the convolutions before them.

        Raises:
            ConfigError: An opset that is not written; a file that would replace the checkpoint or lie in the data folder.
            DataError: A file that cannot be written.
        """
        self._native.export_onnx(os.fspath(out), opset, fold_batch_norm)


@_check.arguments
def load(checkpoint: str | os.PathLike, batch: int = 32, threads: int = 0, workers: int = 0, *, model: str = "",
         labels: Sequence[str] = (), preset: str = "", loss: str = "", device: str = "auto",
         dtype: str = "f32") -> Model:
    """Loads a checkpoint of a run, or weights of torchvision, timm and torchxrayvision (.pt, .pth, .ckpt, .safetensors).
    No code that a file holds is run. Weights of other programs must fit one of the program's networks in all names and
    shapes, as `roentgen convert-weights` demands, which writes them as a checkpoint.

    Args:
        checkpoint: The file, or the run folder.
        batch: Most images at a time, 1 or more.
        threads: Compute threads; 0: all cores.
        workers: Decoding threads; 0: as many as there are cores for them.
        model: Network of other programs' weights, "densenet121"; "": the one that fits.
        labels: Names of their outputs, in order; none: torchxrayvision's findings, or class_0, class_1, ...
        preset: Preprocessing they were trained with, "imagenet" or "xrv"; "": by the weights.
        loss: "sigmoid", or "softmax" where outputs exclude each other; "": softmax for ImageNet's 1,000 outputs.
        device: "auto", "cpu", "cuda" or "cuda:1": what computes. "auto": the best that there is.
        dtype: Type to compute in: "f32" or "auto", which is "f32". A CUDA device also computes in "tf32", "bf16" and
            "f16", which are faster and less precise.

    Raises:
        DeviceError: A device that this machine or build lacks.
        ConfigError: A wrong argument, a type that the device does not compute in, no such file, one that is cut short,
            or weights of an unknown network.
    """
    path = absolute(checkpoint)
    if os.path.isdir(path):
        path = os.path.join(path, "checkpoints", "best.safetensors")
    loaded = Model(path, {"batch": batch, "threads": threads, "workers": workers, "model": model, "labels": labels,
                          "preset": preset, "loss": loss, "device": device, "dtype": dtype})
    loaded._native  # errors come now
    return loaded
