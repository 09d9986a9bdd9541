# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Models that predict findings, and heat-maps that show where."""
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
    """List of images: one entry per image, or a folder with several."""
    if isinstance(images, Dataset):
        images = list(images.frame.path)
    if hasattr(images, "columns"):
        _check.refuse("model", "images", "files, folders or arrays", "a data frame", "list(frame.path)")
    shape = getattr(images, "shape", None)
    is_one = isinstance(images, (str, bytes, os.PathLike)) or hasattr(images, "getbands")  # Pillow images have getbands
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
        _check.refuse("model", name, "a path, like the first image", _check.described(image), "either paths or arrays")
    path = os.fspath(image)
    return absolute(path) if os.path.isdir(path) else path  # file names then match Dataset.frame


def _array(name: str, image: Any) -> numpy.ndarray:
    """Returns one image as a contiguous array in the byte order of this machine."""
    import numpy

    mode = getattr(image, "mode", "L") if hasattr(image, "getbands") else "L"
    if mode not in ("L", "I;16", "RGB"):  # other modes have a palette, alpha or another white level
        _check.refuse("model", name, "a Pillow image of mode L, I;16 or RGB", f"mode {mode}", 'image.convert("L")')
    try:
        array = numpy.asarray(image)
    except (TypeError, ValueError):  # for example a tensor on a GPU
        array = numpy.asarray(None)
    kind = array.dtype.newbyteorder("=")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    has_form = array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)
    if not has_form or array.size == 0 or kind not in (numpy.uint8, numpy.uint16):
        _check.refuse("model", name, "gray levels (H, W) or colours (H, W, 3) of type uint8 or uint16",
                      _check.described(image), "values up to 255 or 65535, and array[..., :3] of an image with alpha")
    if kind == numpy.uint16 and 255 < array.max() < 4096:
        warnings.warn(f"{name}: values only up to {array.max()}, but white is 65535; try array * 16 for 12-bit images",
                      stacklevel=5)
    return numpy.ascontiguousarray(array, dtype=kind)


def _enlarged(colours: numpy.ndarray) -> numpy.ndarray:
    """Enlarges (H, W, 3) bilinearly by an integer factor, so that its longer side has at least 512 pixels."""
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
    """Heat-map of a finding in an image. A notebook shows the overlay.

    Attributes:
        values: (height, width) float32: evidence of each image pixel for the finding; NaN outside the crop that the
            network sees.
        picture: (height, width) uint8: the image, gray levels 0 to 255.
        overlay: (height, width, 3) uint8: the image with the heat-map in colours over it.
        probability: Probability of the finding.
        finding: Name of the label.
        method: "cam" or "grad-cam".
        source: Absolute path of the image file, which save() refuses to overwrite.
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
        """Writes the overlay as a PNG file in the size of the image; small images are enlarged to at least 512 pixels.

        Args:
            path: File to write; its name ends in .png.

        Raises:
            ConfigError: Another ending, the file of the image itself, or a file that cannot be written.
        """
        path = os.fspath(path)
        if not path.lower().endswith(".png"):
            _check.refuse("model", "path", "a file name that ends in .png", repr(path), 'heat.save("heat.png")')
        if self.source and os.path.realpath(path) == os.path.realpath(self.source):
            _check.refuse("model", "path", "a separate file", f"{path!r}, the image itself",
                          "another file name")
        try:
            with open(path, "wb") as file:
                file.write(self._repr_png_())
        except OSError as error:
            _check.refuse("model", "path", "a file that can be written", f"{path!r} ({error.strerror})",
                          "another folder")


class Model:
    """Trained network with its labels and its preprocessing, as returned by load(). Threads may share it; calls run one
    after the other. It can be pickled; the process that unpickles it loads the file again."""

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        self.path = path
        self._options = options
        self._loaded: Any = None

    @property
    def _native(self) -> Any:
        """The network. An unpickled model loads its file at the first use, so that errors reach the user."""
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
        """Preprocessing of the images, as the [preprocess] section of a recipe, for Loader(preprocess=...)."""
        return self._native.preprocess

    @property
    def dtype(self) -> str:
        """Type in which the network computes: "f32", or what load() was asked for."""
        return self._native.dtype

    @property
    def notes(self) -> list[str]:
        """Assumptions about preprocessing, labels and loss of weights from another program, one per line."""
        return self._native.notes

    @property
    def recipe(self) -> str:
        """Recipe with which the model was trained, as TOML."""
        return self._native.recipe

    def predict(self, images: Any) -> pandas.DataFrame:
        """Returns probabilities, one row per image and one column per finding.

        Args:
            images: One or several files (PNG, JPEG, DICOM, ...) or folders. Or one or several images in memory: arrays
                of type uint8 (white is 255) or uint16 (white is 65535), gray (H, W), RGB (H, W, 3) or a stack (N, H, W)
                or (N, H, W, 3), or Pillow images of mode L, I;16 or RGB. Pass DICOM files as paths, because their
                stored values have another white level.

        Returns:
            A data frame of float32, (N, K). Its index has the paths: of files as given, of files in folders absolute,
            as in Dataset.frame; for images in memory, the positions. `dataset.frame.join(scores.add_suffix("_score"),
            on="path")` adds the scores to the labels. The rows of unreadable files are NaN; a RuntimeWarning counts
            them, and `frame.attrs["unreadable"]` has one line for each.

        Raises:
            ConfigError: Images of another type or shape, or no image.
            DataError: A missing file, a folder without images, or an image named twice.
            KeyboardInterrupt: After the current batch; all predictions are lost.
        """
        import pandas

        names, probabilities, _, reasons = self._run(images, False)
        frame = pandas.DataFrame(probabilities, columns=self.labels, index=names or None)
        if names:
            frame.index.name = "path"
        frame.attrs["unreadable"] = {i: reason for i, reason in enumerate(reasons) if reason}
        return frame

    def features(self, images: Any) -> numpy.ndarray:
        """Returns the inputs of the classifier: (N, C) float32, the mean of the last feature map of each image.
        Arguments and errors as for predict()."""
        return self._run(images, True)[2]

    def _run(self, images: Any, has_features: bool):
        listed = _listed(images)
        is_of_files = isinstance(listed[0], (str, os.PathLike))
        run = self._native.predict_files if is_of_files else self._native.predict_images
        read = _path if is_of_files else _array
        result = run([read(f"images[{i}]", image) for i, image in enumerate(listed)], has_features)
        unreadable = [reason for reason in result[3] if reason]
        if unreadable:
            warnings.warn(f"{len(unreadable)} of {len(result[3])} images could not be read and are NaN, first error: "
                          f"{unreadable[0]}", RuntimeWarning, stacklevel=3)
        return result

    @_check.arguments
    def heatmap(self, path: str | os.PathLike, finding: str) -> Heatmap:
        """Returns the class activation map of a finding for one image file, in the size of the image.

        Args:
            path: Image file (PNG, JPEG, DICOM, ...).
            finding: Name of a label, one of `labels`.

        Raises:
            ConfigError: Unknown label.
            DataError: A file that cannot be read.
        """
        values, picture, overlay, probability, method = self._native.heatmap(os.fspath(path), finding)
        return Heatmap(values, picture, overlay, probability, finding, method, os.path.abspath(path))

    @_check.arguments
    def export_onnx(self, out: str | os.PathLike, opset: int = 17, fold_batch_norm: bool = False) -> None:
        """Writes the network as an ONNX file and its model card as OUT.md, like `roentgen export`. Input "image"
        (N, 1, size, size): gray levels 0 to 255, resized; outputs "probabilities" and "logits" (N, K).

        Args:
            out: File to write.
            opset: ONNX operator set, 13 to 17.
            fold_batch_norm: True: merges batch norms into the preceding convolutions.

        Raises:
            ConfigError: An unsupported opset; a file that would replace the checkpoint or lie in the data folder.
            DataError: A file that cannot be written.
        """
        self._native.export_onnx(os.fspath(out), opset, fold_batch_norm)


@_check.arguments
def load(checkpoint: str | os.PathLike, batch: int = 32, threads: int = 0, workers: int = 0, *, model: str = "",
         labels: Sequence[str] = (), preset: str = "", loss: str = "", device: str = "auto",
         dtype: str = "f32") -> Model:
    """Loads a checkpoint of a run, or weights of torchvision, timm or torchxrayvision (.pt, .pth, .ckpt, .safetensors).
    Code in a weight file is never executed. Weights of other programs must match a built-in network in all names and
    shapes, as for `roentgen convert-weights`.

    Args:
        checkpoint: Weight file, or run folder.
        batch: Largest number of images at a time, 1 or more.
        threads: Compute threads; 0: all cores.
        workers: Decoding threads; 0: automatic.
        model: Network of weights from another program, such as "densenet121"; "": the network that fits.
        labels: Names of its outputs, in order; empty: torchxrayvision's findings, or class_0, class_1, ...
        preset: Preprocessing with which it was trained, "imagenet" or "xrv"; "": by the weights.
        loss: "sigmoid", or "softmax" if the classes are exclusive; "": softmax for 1,000 outputs (ImageNet), else
            sigmoid.
        device: "cpu", "cuda", "cuda:1" or "auto" (the best available device).
        dtype: Type of the computation: "f32" or "auto", which is "f32". A CUDA device also computes in "tf32", "bf16"
            and "f16", which are faster and less precise.

    Raises:
        DeviceError: A device that this machine or build does not have.
        ConfigError: A wrong argument, a type that the device does not support, a missing or truncated file, or weights
            of an unknown network.
    """
    path = absolute(checkpoint)
    if os.path.isdir(path):
        path = os.path.join(path, "checkpoints", "best.safetensors")
    loaded = Model(path, {"batch": batch, "threads": threads, "workers": workers, "model": model, "labels": labels,
                          "preset": preset, "loss": loss, "device": device, "dtype": dtype})
    loaded._native  # errors come now
    return loaded
