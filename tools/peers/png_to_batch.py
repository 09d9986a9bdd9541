#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""PNG radiographs to normalised 224 px rows on one core: our decoder, libpng, libspng, a decoder over libdeflate, each with our
resize, and Pillow with its own. Rounds are interleaved; ratios are medians over rounds (and their range).

  tools/peers/png_to_batch.py [--data FOLDER] [--rounds N] [--size PX] [--build DIR] [--json FILE]

8-bit gray files only, without those where every row has the filter Sub (somebody re-encoded them). Needs libpng-dev,
libdeflate-dev, Pillow and NumPy.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import io
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
from PIL import Image, features

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from nih_originals import is_original  # noqa: E402


def pillow_ms(files, size):
    row = np.empty((1, size, size), np.float32)
    begin = time.perf_counter()
    for data in files:
        image = Image.open(io.BytesIO(data)).resize((size, size), Image.BILINEAR)
        np.subtract(np.asarray(image, np.float32) / 255.0, 0.5, out=row[0])
        row /= 0.25
    return 1e3 * (time.perf_counter() - begin) / len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/nih/png"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    subprocess.run(["cmake", "--build", options.build, "--target", "png_to_batch"], check=True, stdout=subprocess.DEVNULL)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    files = [data for data in (path.read_bytes() for path in sorted(options.data.iterdir())) if is_original(data)]
    rounds = []
    for _ in range(options.rounds):
        command = [f"{options.build}/png_to_batch", str(options.data), "1", str(options.size)]
        record = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if record["images"] != len(files):
            raise SystemExit(f"{record['images']} images there, {len(files)} here")
        record["pillow_ms"] = pillow_ms(files, options.size)
        rounds.append(record)

    ours = np.array([record["roentgen_ms"] for record in rounds])
    result = {"images": len(files), "size": options.size, "rounds": options.rounds,
              "pillow": Image.__version__, "zlib-ng": bool(features.check_feature("zlib_ng")) if "zlib_ng" in
              features.features else False, "ms": {}, "ratio": {}}
    print(f"{len(files)} images to {options.size} px, one core, {options.rounds} rounds; ms an image (of it the resize: "
          f"{np.median([r['resize_ms'] for r in rounds]):.2f})")
    for name in ("roentgen", "libpng", "libspng", "libdeflate", "pillow"):
        times = np.array([record[name + "_ms"] for record in rounds])
        ratios = times / ours
        result["ms"][name] = float(np.median(times))
        result["ratio"][name] = [float(np.median(ratios)), float(ratios.min()), float(ratios.max())]
        print(f"{name:10}  {np.median(times):7.2f} ms   {np.median(ratios):5.2f}x ({ratios.min():.2f} to {ratios.max():.2f})")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
