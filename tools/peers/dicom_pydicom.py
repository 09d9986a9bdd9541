#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares our gray levels of DICOM files with those of pydicom's functions, for every value of preprocess.intensity.

  tools/peers/dicom_pydicom.py --roentgen build/release/roentgen FILE_OR_FOLDER...

Needs pydicom (tried: 2.3.1, Pillow for JPEG and JPEG 2000), numpy below 2 and OpenCV's cv2. Each file goes through
`roentgen convert --encode raw --intensity NAME`, and the script reads the record. Exits 1 if a file that both programs
read differs by more than a bound: 0 for stored values, 1 of 65,535 after a window (we round, pydicom does not), 1 of 255
if the published code works with 8 bits.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import csv
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import pydicom
from pydicom.pixel_data_handlers.util import apply_modality_lut, apply_voi_lut

INTENSITIES = ("stored", "xrv", "voi", "nih", "mimic-jpg", "chexpert")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Fields of a protobuf message as (number, payload); integers are decoded."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 4 if key & 7 == 5 else 8
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def features(record):
    """Features of a tf.train.Example as {name: bytes or first integer}."""
    found = {}
    for _, table in fields(record):
        for _, entry in fields(table):
            name, feature = (value for _, value in sorted(fields(entry)))
            for kind, values in fields(feature):
                first = next(fields(values), (1, b""))[1] if values else b""
                if kind == 3 and isinstance(first, bytes):
                    first = varint(first, 0)[0]
                found[name.decode()] = first
    return found


def ours(roentgen, path, intensity):
    """(array of levels as float64, greatest level) by roentgen, or the error line."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "data").mkdir()
        shutil.copy(path, folder / "data/image.dcm")
        (folder / "data/labels.csv").write_text("path,sick\nimage.dcm,1\n")
        run = subprocess.run([roentgen, "convert", folder / "data", folder / "out", "--to", "tfrecord", "--encode", "raw",
                              "--shards", "1", "--intensity", intensity, "--set", "data.labels=sick",
                              "data.split=whole"], capture_output=True, text=True)
        if run.returncode != 0:
            return None, run.stderr.strip().splitlines()[-1]
        record = next((folder / "out").glob("*.tfrecord")).read_bytes()
    size = struct.unpack("<Q", record[:8])[0]
    found = features(record[12:12 + size])
    dtype = "<u1" if found["image/bits"] == 8 else "<u2"
    levels = np.frombuffer(found["image/encoded"], dtype).reshape(found["image/height"], found["image/width"])
    return levels.astype(np.float64), found["image/max_value"]


def stored(dataset, values):
    bits = dataset.BitsStored
    values = values.astype(np.float64)
    if dataset.PixelRepresentation:
        values = values + 2.0 ** (bits - 1)
    return values, 2.0 ** bits - 1


def viewed(dataset, values):
    """(levels, greatest level) with the modality and VOI transforms of pydicom."""
    has_lut = "VOILUTSequence" in dataset
    width = dataset.get("WindowWidth")
    has_window = width is not None and width != "" and float(np.atleast_1d(width)[0]) >= 1
    if not has_lut and not has_window:
        levels, most = stored(dataset, values)
        return (most - levels if float(dataset.get("RescaleSlope", 1)) < 0 else levels), most
    levels = apply_voi_lut(apply_modality_lut(values, dataset), dataset, index=0, prefer_lut=True).astype(np.float64)
    if has_lut:
        return levels, 2.0 ** dataset.VOILUTSequence[0].LUTDescriptor[2] - 1
    # pydicom scales the output of a window to the range of the rescaled stored values.
    slope, intercept = float(dataset.get("RescaleSlope", 1)), float(dataset.get("RescaleIntercept", 0))
    low = -2.0 ** (dataset.BitsStored - 1) if dataset.PixelRepresentation else 0.0
    ends = sorted((slope * low + intercept, slope * (low + 2.0 ** dataset.BitsStored - 1) + intercept))
    return (levels - ends[0]) / (ends[1] - ends[0]) * 65535, 65535.0


def theirs(dataset, intensity):
    """(levels, greatest level) by pydicom and the published lines of code."""
    values = dataset.pixel_array
    values = values.astype(values.dtype.newbyteorder("="))
    is_inverted = dataset.PhotometricInterpretation == "MONOCHROME1"
    if intensity == "mimic-jpg":
        shifted = values.astype(np.float64) - values.min()
        gray = (shifted / max(shifted.max(), 1) * 255).astype(np.uint8)
    elif intensity == "chexpert":
        gray = cv2.convertScaleAbs(values, alpha=255.0 / values.max())
    else:
        levels, most = (viewed if intensity in ("voi", "nih") else stored)(dataset, values)
        levels = most - levels if is_inverted else levels
        return (levels * 255 / most, 255.0) if intensity == "nih" else (levels, most)
    gray = cv2.bitwise_not(gray) if is_inverted else gray
    return cv2.equalizeHist(gray).astype(np.float64), 255.0


def compare(path, roentgen, intensity):
    """(verdict, detail) of one file."""
    levels, most = ours(roentgen, path, intensity)
    if levels is None:
        return "refused", most
    try:
        expected, greatest = theirs(pydicom.dcmread(path, force=True), intensity)
    except Exception as error:  # a missing decoder may raise any exception
        return "ours alone", str(error)[:80]
    if expected.shape != levels.shape or greatest != most:
        return "DIFFERS", f"{expected.shape} to {greatest}, ours {levels.shape} to {most}"
    difference = float(np.abs(levels - expected).max())
    bound = 0.0 if intensity in ("stored", "xrv") or (intensity == "voi" and most != 65535) else 1.0
    return ("same" if difference <= bound else "DIFFERS"), f"{difference:g} of {most:g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--roentgen", default="build/release/roentgen")
    options = parser.parse_args()
    files = [f for p in options.paths for f in (sorted(p.rglob("*.dcm")) if p.is_dir() else [p])]
    table = csv.writer(sys.stdout)
    table.writerow(["file", "intensity", "verdict", "detail"])
    counts = {}
    for path in files:
        for intensity in INTENSITIES:
            verdict, detail = compare(path, options.roentgen, intensity)
            counts[intensity, verdict] = counts.get((intensity, verdict), 0) + 1
            table.writerow([path.name, intensity, verdict, detail])
            if verdict == "refused":
                break
    for (intensity, verdict), count in sorted(counts.items()):
        print(f"{intensity}: {count} {verdict}", file=sys.stderr)
    return 1 if any(verdict == "DIFFERS" for _, verdict in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
