#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Loads best.safetensors strictly into torchvision's model and compares its logits with ours, image by image.

  roentgen eval --checkpoint RUN/checkpoints/best.safetensors --data DIR --split test --preds preds.csv
  python3 tools/peers/load_checkpoint_torchvision.py --checkpoint RUN/checkpoints/best.safetensors \
      --data DIR --preds preds.csv

Exits 1 when any logit differs by more than --tolerance. The model, the labels and the preprocessing are read from the
checkpoint's own metadata; images are decoded by Pillow and resized by torch's antialiased bilinear filter. A gray
checkpoint is torchvision's model with a first convolution of one channel: nothing else differs. What torchvision does
not have (another width, the small stem) is refused.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import csv
import json
import math
import pathlib
import sys

import numpy as np
import torch
import torchvision
from PIL import Image

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11
    import tomli as tomllib

DTYPES = {"F32": np.float32, "F64": np.float64, "F16": np.float16, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


def read_safetensors(path):
    """Reads a safetensors file as (name -> tensor, metadata): u64le header length, JSON header, data."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype=DTYPES[entry["dtype"]])
        tensors[name] = torch.from_numpy(values.reshape(entry["shape"]).copy())
    return tensors, metadata


def build(metadata):
    """torchvision's model for a checkpoint, without the checkpoint's weights."""
    model = tomllib.loads(metadata["recipe"])["model"]
    unlike = [f"{key} = {model[key]}" for key, value in
              (("width", 64), ("stem", "imagenet"), ("resnet", "v1.5"), ("file", "")) if model.get(key, value) != value]
    if unlike or not hasattr(torchvision.models, model["name"]):
        sys.exit(f"[peers.torchvision] {model['name']}: expected a model that torchvision has, got {', '.join(unlike)}")
    network = getattr(torchvision.models, model["name"])(num_classes=len(json.loads(metadata["labels"])))
    if json.loads(metadata["preprocess"])["channels"] == 1:
        parent, name = (network, "conv1") if hasattr(network, "conv1") else (network.features, "conv0")
        first = getattr(parent, name)
        setattr(parent, name, torch.nn.Conv2d(1, first.out_channels, first.kernel_size, first.stride, first.padding,
                                              bias=first.bias is not None))
    return network


def prepare(path, preprocess):
    """One image, preprocessed as the checkpoint defines: (1, C, S, S)."""
    image = Image.open(path)
    if image.mode not in ("L", "RGB") or preprocess["fit"] != "squash" or preprocess["filter"] != "triangle":
        sys.exit(f"[peers.torchvision] {path}: expected an 8-bit gray or RGB image, fit = squash and filter = triangle")
    pixels = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255.0)
    pixels = pixels[None] if pixels.ndim == 2 else pixels.permute(2, 0, 1)
    if pixels.shape[0] != preprocess["channels"]:
        pixels = pixels.mean(0, keepdim=True) if preprocess["channels"] == 1 else pixels.expand(3, -1, -1)
    size = (preprocess["size"], preprocess["size"])
    pixels = pixels[None]
    if tuple(pixels.shape[2:]) != size:
        pixels = torch.nn.functional.interpolate(pixels, size=size, mode="bilinear", antialias=True)
    mean, std = (torch.tensor(preprocess[key]).reshape(1, -1, 1, 1) for key in ("mean", "std"))
    return (pixels - mean) / std


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the data folder; images are found by name")
    parser.add_argument("--preds", type=pathlib.Path, required=True, help="csv of roentgen eval --preds")
    parser.add_argument("--images", type=int, default=64, help="how many images to compare")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    arguments = parser.parse_args()
    tensors, metadata = read_safetensors(arguments.checkpoint)
    network = build(metadata)
    network.load_state_dict(tensors, strict=True)
    network.eval()
    print(f"{arguments.checkpoint}: {len(tensors)} tensors load strictly into torchvision {torchvision.__version__}")
    files = {file.name: file for file in arguments.data.rglob("*") if file.suffix.lower() in (".png", ".jpg", ".jpeg")}
    preprocess = json.loads(metadata["preprocess"])
    if metadata["loss"] != "sigmoid":
        sys.exit("[peers.torchvision] loss: expected sigmoid, whose probabilities give the logits back")
    worst = compared = 0
    with open(arguments.preds, newline="", encoding="utf-8") as file:
        for row in list(csv.reader(file))[1 : 1 + arguments.images]:
            with torch.no_grad():
                logits = network(prepare(files[pathlib.PurePath(row[0]).name], preprocess))[0]
            ours = [math.log(p / (1.0 - p)) for p in map(float, row[1:])]
            worst = max(worst, max(abs(a - b) for a, b in zip(ours, logits.tolist())))
            compared += 1
    print(f"logits: largest difference {worst:.2e} over {compared} images x {len(logits)} labels, "
          f"tolerance {arguments.tolerance:g}")
    return 0 if compared and worst <= arguments.tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
