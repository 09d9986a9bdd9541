#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Gray JPEG radiographs to normalised 224 px rows on one core: decoded smaller, as our preprocessing does by default; by
libjpeg-turbo at the same reduced size and whole, with our resize; Pillow with its own, decoding whole and smaller (draft). Rounds are interleaved; ratios
are of processor time, medians over rounds (and their range).

  tools/peers/jpeg_to_batch.py [--data FOLDER] [--side PX] [--quality Q] [--rounds N] [--size PX] [--build DIR] [--json FILE]

Real radiographs are rarely JPEG in the open: gray PNGs are encoded first, by Pillow, into a temporary folder (--side: resized to
that side before). Needs Pillow and NumPy.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import io
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image


def pillow_ms(files, size, is_draft):
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


def encode(paths, folder, side, quality):
    files = []
    for path in paths:
        image = Image.open(path)
        if image.mode != "L":
            continue
        if side:
            image = image.resize((side, side), Image.BICUBIC)
        to = folder / (path.stem + ".jpg")
        image.save(to, quality=quality)
        files.append(to.read_bytes())
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/nih/png"))
    parser.add_argument("--side", type=int, default=0, help="0: as the files are")
    parser.add_argument("--quality", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    subprocess.run(["cmake", "--build", options.build, "--target", "jpeg_to_batch"], check=True, stdout=subprocess.DEVNULL)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        files = encode(sorted(options.data.iterdir()), pathlib.Path(folder), options.side, options.quality)
        rounds = []
        for _ in range(options.rounds):
            command = [f"{options.build}/jpeg_to_batch", folder, "1", str(options.size)]
            record = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            record["pillow_ms"] = pillow_ms(files, options.size, False)
            record["pillow_draft_ms"] = pillow_ms(files, options.size, True)
            rounds.append(record)

    ours = np.array([record["scaled_ms"] for record in rounds])
    result = {"images": len(files), "side": options.side, "quality": options.quality, "size": options.size,
              "rounds": options.rounds, "bytes": sum(map(len, files)) / len(files), "pillow": Image.__version__,
              "mean_levels": rounds[0]["mean_levels"], "largest_levels": rounds[0]["largest_levels"], "ms": {}, "ratio": {}}
    print(f"{len(files)} images of {result['bytes'] / 1e3:.0f} KB to {options.size} px, one core, {options.rounds} rounds; "
          f"scaled and exact inputs differ by {result['mean_levels']:.2f} of 255 levels in the mean, "
          f"{result['largest_levels']:.0f} at most")
    for name in ("scaled", "turbo_scaled", "exact", "pillow", "pillow_draft"):
        times = np.array([record[name + "_ms"] for record in rounds])
        ratios = times / ours
        result["ms"][name] = float(np.median(times))
        result["ratio"][name] = [float(np.median(ratios)), float(ratios.min()), float(ratios.max())]
        print(f"{name:13}  {np.median(times):7.2f} ms   {np.median(ratios):5.2f}x ({ratios.min():.2f} to {ratios.max():.2f})")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
