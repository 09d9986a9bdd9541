#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Statistics of 8-bit gray PNG radiographs and of their files: NIH's originals beside synthetic ones.

  tools/peers/nih_bytes.py FOLDER [FOLDER ...] [--first N] [--limit SHARE]

One column a folder: mean (10th to 90th percentile) over its images. Files that are not 8-bit gray are left out, and so
are those where every row has the filter Sub, which NIH's are not: somebody re-encoded them. With --limit, exits 1 unless
the means of the second folder lie within that share of the first's (Up and Sub: within 5 and 3 points of percent).

bytes      of the file
none ... paeth  share of the rows with that filter, %
gray, sd   mean and standard deviation of the pixels
noise      standard deviation of the noise, Immerkaer 1996: sqrt(pi/2)/6 of the mean absolute response to the mask
           1 -2 1, -2 4 -2, 1 -2 1
slope      of the power spectrum, log-log: power of the Hann-windowed image averaged over rings of one cycle per image,
           least squares from 8 cycles to half the width. (The sum over a ring falls one less steeply.)

src/synth/film_testing.h measures the same. Needs NumPy and Pillow.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image

FILTERS = ("none", "sub", "up", "average", "paeth")
POINTS = {"sub": 3.0, "up": 5.0, "none": 1.0}


def filters_of(data):
    """Share of the rows with each filter, or nothing when the image is not 8-bit gray, or is re-encoded."""
    at, pixels, header = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        kind, content = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", content)
        if kind == b"IDAT":
            pixels += content
        at += 12 + length
    width, height, bits, colour, _, _, interlaced = header
    if bits != 8 or colour != 0 or interlaced:
        return None
    rows = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(height, width + 1)[:, 0]
    shares = np.bincount(rows, minlength=5) / height
    return None if shares[1] > 0.995 else shares


def noise_of(image):
    across = image[:, :-2] - 2 * image[:, 1:-1] + image[:, 2:]
    both = across[:-2] - 2 * across[1:-1] + across[2:]
    return float(np.sqrt(np.pi / 2) * np.abs(both).mean() / 6)


def slope_of(image):
    size = image.shape[0]
    window = np.hanning(size)
    power = np.abs(np.fft.fft2((image - image.mean()) * window[:, None] * window)) ** 2
    frequency = np.fft.fftfreq(size) * size
    ring = np.hypot(frequency[:, None], frequency).astype(int).ravel()
    mean = np.bincount(ring, power.ravel()) / np.bincount(ring)
    cycles = np.arange(8, size // 2)
    return float(np.polyfit(np.log(cycles), np.log(mean[cycles]), 1)[0])


def measure(path):
    data = path.read_bytes()
    shares = filters_of(data)
    if shares is None:
        return None
    image = np.asarray(Image.open(path)).astype(float)
    row = {"bytes": len(data)} | {name: 100 * share for name, share in zip(FILTERS, shares)}
    return row | {"gray": image.mean(), "sd": image.std(), "noise": noise_of(image), "slope": slope_of(image)}


def table(folder, first):
    rows = [row for row in (measure(path) for path in sorted(folder.glob("*.png"))[:first]) if row]
    if not rows:
        sys.exit(f"{folder}: no 8-bit gray PNG image")
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--first", type=int, help="of each folder")
    parser.add_argument("--limit", type=float)
    arguments = parser.parse_args()
    tables = [table(folder, arguments.first) for folder in arguments.folders]
    print("{:<8}".format("images") + "".join(f"{len(t['bytes']):>36}" for t in tables))
    far = []
    for name in tables[0]:
        cells = [f"{t[name].mean():.2f} ({np.percentile(t[name], 10):.2f} to {np.percentile(t[name], 90):.2f})"
                 for t in tables]
        print(f"{name:<8}" + "".join(f"{cell:>36}" for cell in cells))
        if arguments.limit is not None and len(tables) > 1:
            real, synthetic = tables[0][name].mean(), tables[1][name].mean()
            if abs(synthetic - real) > POINTS.get(name, arguments.limit * abs(real)):
                far.append(name)
    if far:
        sys.exit("too far: " + ", ".join(far))


if __name__ == "__main__":
    main()
