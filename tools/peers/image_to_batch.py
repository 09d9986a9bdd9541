#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Measures how fast one core converts 8-bit gray radiographs to rows of a batch. Compares our decoder and other libraries
(image_to_batch.cpp names them), each with our resize, and Pillow with its own resize. Rounds are interleaved; times are
processor times, ratios are medians over rounds (and their range).

  tools/peers/image_to_batch.py [--data FOLDER] [--rounds N] [--size PX] [--build DIR] [--json FILE]
  tools/peers/image_to_batch.py --jpeg [--side PX] [--quality Q] ...

PNG files as NIH published them are taken (tools/nih_originals.py); all decoders must give the same pixels of them. Real
radiographs are rarely JPEG in the open: with --jpeg, Pillow encodes these first (--side: resized to that side before).
Needs libpng-dev, Pillow and NumPy.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import io
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image, features

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from nih_originals import copy_originals  # noqa: E402


def pillow_ms(files, size, is_draft=False):
    """Milliseconds per image. `is_draft`: decodes a JPEG file at reduced size."""
    row = np.empty((1, size, size), np.float32)
    begin = time.process_time()
    for data in files:
        image = Image.open(io.BytesIO(data))
        if is_draft:
            image.draft("L", (size, size))
        image = image.resize((size, size), Image.BILINEAR)
        np.subtract(np.asarray(image, np.float32) / 255.0, 0.5, out=row[0])
        row /= 0.25
    return 1e3 * (time.process_time() - begin) / len(files)


def encode(folder, side, quality):
    """Replaces a folder's PNG files by JPEG files."""
    for path in list(folder.iterdir()):
        image = Image.open(path)
        if side:
            image = image.resize((side, side), Image.BICUBIC)
        image.save(path.with_suffix(".jpg"), quality=quality)
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/nih/png"))
    parser.add_argument("--jpeg", action="store_true")
    parser.add_argument("--side", type=int, default=0, help="0: as the files are")
    parser.add_argument("--quality", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    subprocess.run(["cmake", "--build", options.build, "--target", "image_to_batch"], check=True,
                   stdout=subprocess.DEVNULL)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "images"
        copy_originals(options.data, folder)
        if options.jpeg:
            encode(folder, options.side, options.quality)
        files = [path.read_bytes() for path in folder.iterdir()]
        for _ in range(options.rounds):
            command = [f"{options.build}/image_to_batch", folder, str(options.size)]
            ways = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            ways["Pillow"] = {"ms": pillow_ms(files, options.size)}
            if options.jpeg:
                ways["Pillow, draft"] = {"ms": pillow_ms(files, options.size, is_draft=True)}
            elif any(way["largest_levels"] for way in ways.values() if "largest_levels" in way):
                sys.exit(f"two decoders of PNG files give different pixels: {ways}")
            rounds.append(ways)

    has_zlib_ng = "zlib_ng" in features.features and features.check("zlib_ng")
    result = {"images": len(files), "bytes": statistics.mean(map(len, files)), "size": options.size,
              "rounds": options.rounds, "pillow": Image.__version__, "zlib-ng": has_zlib_ng, "ways": {}}
    print(f"{len(files)} images of {result['bytes'] / 1e3:.0f} KB to {options.size} px, one core, "
          f"{options.rounds} rounds; gray levels of 255 from ours: mean, largest")
    for way, first in rounds[0].items():
        times = [ways[way]["ms"] for ways in rounds]
        ratios = [ways[way]["ms"] / ways["roentgen"]["ms"] for ways in rounds]
        row = {**first, "ms": statistics.median(times), "ratio": statistics.median(ratios), "least": min(ratios),
               "most": max(ratios)}
        result["ways"][way] = row
        levels = f"{first['mean_levels']:.2f}, {first['largest_levels']:.0f}" if "mean_levels" in first else ""
        print("{:20}  {ms:7.2f} ms   {ratio:5.2f}x ({least:.2f} to {most:.2f})   {}".format(way, levels, **row))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
