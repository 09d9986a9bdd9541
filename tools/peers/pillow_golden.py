#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/pillow_decode.csv and pillow_resize.csv: Pillow's results of decoding and of resizing.

  apt-get install python3-pil python3-numpy        # written with Pillow 9.4 (Debian 12)
  python3 tools/peers/pillow_golden.py TEST_DATA tests/golden

pillow_decode.csv: SHA-1 of convert("RGB").tobytes() and convert("L").tobytes(), alpha dropped, of every PNG and JPEG of
TEST_DATA/corrupt that Pillow opens and of NIH's and some of Kermany's files. Gray files of 16 bits: of the 16-bit
samples, little endian, in both columns. JPEG in colour: "L" is the file's Y, as draft("L") gives it.
pillow_resize.csv: resize() in mode F, which does not round, of a picture given by a formula, with BILINEAR (triangle).
A line `case,NAME,WIDTH,HEIGHT,BOX,OUT_WIDTH,OUT_HEIGHT` (BOX: x0 y0 x1 y1), then OUT_HEIGHT lines of values. Then, for three
NIH files, `real,FILE,...` and 8 rows (13, 41, ..., 209) of 224 values.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import csv
import hashlib
import pathlib
import sys

import numpy as np
from PIL import Image

CASES = [  # name, width, height, box or None, output width, height
    ("shrink", 61, 47, None, 16, 16),
    ("shrink_much", 200, 150, None, 7, 5),
    ("enlarge", 9, 7, None, 20, 20),
    ("mixed", 40, 6, None, 12, 12),
    ("ratio_of_integers", 64, 64, None, 16, 16),
    ("one_pixel", 1, 1, None, 4, 4),
    ("middle_square", 61, 47, (7, 0, 54, 47), 16, 16),
    ("box_of_fractions", 61, 47, (3.25, 2.5, 40.75, 33.125), 16, 12),
]


def formula(width, height):
    """Bytes with structure: (13 x + 29 y + x y) mod 251, as in the C++ test."""
    y, x = np.mgrid[0:height, 0:width]
    return ((13 * x + 29 * y + x * y) % 251).astype(np.uint8)


def sha1(image):
    return hashlib.sha1(image.tobytes()).hexdigest()


def decode_row(path):
    with Image.open(path) as image:
        if image.format not in ("PNG", "JPEG"):
            return None
        if image.mode == "I":
            image.load()
            digest = hashlib.sha1(np.asarray(image).astype("<u2").tobytes()).hexdigest()
            return "gray16", digest, digest
        kind = image.format.lower() + "-" + image.mode
        rgb = sha1(image.convert("RGB"))
    with Image.open(path) as image:
        if image.format == "JPEG":
            image.draft("L", None)
        return kind, rgb, sha1(image.convert("L"))


def write_decode(data, target):
    files = sorted(p for p in (data / "corrupt").rglob("*") if p.is_file())
    files += sorted((data / "nih/png").glob("*.png"))
    files += sorted((data / "nih/png64").glob("*.png"))[:40]
    files += sorted((data / "kermany").rglob("*.jpeg"))[::250]
    with open(target, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["file", "kind", "sha1_rgb", "sha1_gray"])
        for path in files:
            try:
                row = decode_row(path)
            except Exception:  # TEST_DATA's expected.csv gives the reason
                row = None
            if row:
                writer.writerow([path.relative_to(data), *row])


def write_rows(out, picture, rows):
    for y in rows:
        out.write(" ".join(f"{v:.9g}" for v in picture[y]) + "\n")


def write_resize(data, target):
    with open(target, "w") as out:
        for name, width, height, box, out_width, out_height in CASES:
            image = Image.fromarray(formula(width, height).astype(np.float32), "F")
            resized = image.resize((out_width, out_height), Image.Resampling.BILINEAR, box)
            text = " ".join(str(v) for v in box or (0, 0, width, height))
            out.write(f"case,{name},{width},{height},{text},{out_width},{out_height}\n")
            write_rows(out, np.asarray(resized), range(out_height))
        for path in sorted((data / "nih/png").rglob("*.png"))[:3]:
            with Image.open(path) as image:
                pixels = np.asarray(image.convert("L")).astype(np.float32)
            image = Image.fromarray(pixels, "F")
            width, height = image.size
            out.write(f"real,{path.relative_to(data)},{width},{height},0 0 {width} {height},224,224\n")
            write_rows(out, np.asarray(image.resize((224, 224), Image.Resampling.BILINEAR)), range(13, 224, 28))


def main():
    data, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    write_decode(data, folder / "pillow_decode.csv")
    write_resize(data, folder / "pillow_resize.csv")


if __name__ == "__main__":
    main()
