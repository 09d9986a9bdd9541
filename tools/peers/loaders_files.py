#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Converts the PNG files of FOLDER/png to other formats that loaders read: FOLDER/jpeg, FOLDER/raw.npy (uint8 levels
(N, size, size), resized by Pillow) and LitData's chunks of files, FOLDER/litdata_png and FOLDER/litdata_jpeg.

  tools/peers/loaders_files.py FOLDER [--size PX] [--quality Q]
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import importlib.util
import pathlib

import numpy as np
from PIL import Image


def read_bytes(path):
    return pathlib.Path(path).read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--quality", type=int, default=90)
    options = parser.parse_args()
    jpeg = options.folder / "jpeg"
    jpeg.mkdir(exist_ok=True)
    rows = []
    for path in sorted((options.folder / "png").glob("*.png")):
        with Image.open(path) as image:
            gray = image.convert("L")
        gray.save(jpeg / f"{path.stem}.jpg", quality=options.quality)
        rows.append(np.asarray(gray.resize((options.size, options.size), Image.Resampling.BILINEAR)))
    np.save(options.folder / "raw.npy", np.stack(rows))
    if importlib.util.find_spec("litdata"):
        import litdata

        for case in ("png", "jpeg"):
            files = sorted(str(path) for path in (options.folder / case).glob("*.[pj][np]g"))
            litdata.optimize(read_bytes, files, output_dir=str(options.folder / f"litdata_{case}"), chunk_bytes="64MB",
                             num_workers=1)


if __name__ == "__main__":
    main()
