#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks that the webdataset package and Python's tarfile read the shards of `roentgen convert --to tar`.

  python3 -m venv venv && venv/bin/pip install webdataset numpy pillow
  roentgen convert DIR shards --to tar
  venv/bin/python tools/peers/records_webdataset.py shards DIR

Every sample must have a .json with filename and labels, and an image with the bytes (.npy: the pixels) of the file of
that name below DIR. Exits 1 otherwise. Shards must not have been resized or made JPEG; those of --encode png are compared
by pixels.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import io
import json
import pathlib
import sys
import tarfile

import numpy as np
import webdataset
from PIL import Image


def is_same(sample, path):
    if "npy" in sample:
        pixels = np.load(io.BytesIO(sample["npy"]))
        with Image.open(path) as image:
            return np.array_equal(pixels, np.asarray(image if image.mode in ("L", "I;16") else image.convert("RGB")))
    data = next(sample[ending] for ending in ("png", "jpg", "dcm") if ending in sample)
    if data == path.read_bytes():
        return True
    return np.array_equal(np.asarray(Image.open(io.BytesIO(data))), np.asarray(Image.open(path)))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shards, originals = map(pathlib.Path, sys.argv[1:])
    by_name = {}
    for path in originals.rglob("*"):
        by_name.setdefault(path.name, []).append(path)
    files = sorted(str(path) for path in shards.glob("*.tar"))
    listed = 0
    for file in files:
        with tarfile.open(file, "r:", errorlevel=2) as archive:
            listed += sum(member.isreg() for member in archive)
    count = bad = 0
    for sample in webdataset.WebDataset(files, shardshuffle=False):
        known = json.loads(sample["json"])
        found = [path for path in by_name.get(pathlib.Path(known["filename"]).name, [])
                 if path.as_posix().endswith(known["filename"])]
        count += 1
        if set(known["labels"].values()) <= {0, 1, None} and any(is_same(sample, path) for path in found):
            continue
        bad += 1
        print(f"{known['filename']}: differs from {found or 'no file'}")
    bad += listed != 2 * count
    print(f"webdataset {webdataset.__version__}: {count} samples in {len(files)} shards of {listed} files, {bad} differ")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
