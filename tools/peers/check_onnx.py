#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares probabilities of an exported ONNX file in onnxruntime with those of `roentgen predict`, for the same images.

  pip install onnx onnxruntime pillow
  build/release/roentgen export --checkpoint best.safetensors --out model.onnx
  build/release/roentgen predict --checkpoint best.safetensors IMAGES --preds preds.csv
  python3 tools/peers/check_onnx.py model.onnx preds.csv IMAGES

Pictures are resized in floating point, as roentgen does. Exits 1 if a probability differs by more than 1e-4.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import csv
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from PIL import Image, ImageOps

BOUND = 1e-4


def network_input(path, preprocess):
    """Picture as an array (1, 1, size, size) of gray levels 0 to 255."""
    image = Image.open(path)
    is_deep = image.mode.startswith("I")
    image = image.convert("F") if is_deep else image.convert("L").convert("F")
    if preprocess["fit"] == "crop":
        image = ImageOps.fit(image, (min(image.size),) * 2)
    if preprocess["fit"] == "pad":
        image = ImageOps.pad(image, (max(image.size),) * 2)
    side = preprocess["size"]
    gray = np.asarray(image.resize((side, side), Image.BILINEAR), np.float32)
    return (gray / 257 if is_deep else gray)[None, None]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("preds", type=pathlib.Path)
    parser.add_argument("images", type=pathlib.Path)
    arguments = parser.parse_args()
    onnx.checker.check_model(str(arguments.model), full_check=True)
    session = onnxruntime.InferenceSession(str(arguments.model), providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    labels, preprocess = json.loads(metadata["labels"]), json.loads(metadata["preprocess"])
    paths = {path.name: path for path in arguments.images.rglob("*") if path.is_file()}
    largest, count = 0.0, 0
    with arguments.preds.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = pathlib.Path(row["Image Index"]).name
            got = session.run(["probabilities"], {"image": network_input(paths[name], preprocess)})[0][0]
            wanted = np.array([float(row[f"prob_{label}"]) for label in labels])
            largest = max(largest, float(np.abs(got - wanted).max()))
            count += 1
    print(f"{arguments.model}: {count} images, {len(labels)} labels, largest difference {largest:.2e} (bound {BOUND})")
    return 0 if count > 0 and largest <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
