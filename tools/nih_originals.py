#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Copies the 8-bit gray PNG radiographs of a folder that still have their publisher's encoding, each several times.

  tools/nih_originals.py FOLDER TARGET [--copies N]

Files in which every row has the filter Sub are left out, because they were encoded again and decode faster than
originals. Copies are separate files, so that a few dozen images give passes as long as those of a large data set.
"""
import argparse
import pathlib
import shutil
import struct
import zlib


def is_original(data):
    """True for an 8-bit gray PNG that is not interlaced and has other row filters than Sub."""
    if len(data) < 29 or data[:8] != b"\x89PNG\r\n\x1a\n":
        return False
    width, _, bits, colour, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    if (bits, colour, interlace) != (8, 0, 0):
        return False
    packed, at = b"", 8
    while at + 12 <= len(data):
        (size,) = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    return any(byte != 1 for byte in zlib.decompress(packed)[::width + 1])


def copy_originals(folder, target, copies=1):
    """Copies the originals into the folder `target`, which is created. Returns the number of files there."""
    target.mkdir(parents=True)
    originals = [path for path in sorted(folder.glob("*.png")) if is_original(path.read_bytes())]
    if not originals:
        raise SystemExit(f"[nih_originals] {folder}: expected 8-bit gray PNG files, got none")
    for number in range(copies):
        for path in originals:
            shutil.copy(path, target / f"{path.stem}_{number:03}.png")
    return len(originals) * copies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--copies", type=int, default=1)
    options = parser.parse_args()
    print(f"{copy_originals(options.folder, options.target, options.copies)} files in {options.target}")


if __name__ == "__main__":
    main()
