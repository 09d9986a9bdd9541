#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks that `roentgen convert` reads databases of liblmdb, and that liblmdb reads and changes those of `convert`.

  python3 -m venv venv && venv/bin/pip install lmdb numpy pillow
  venv/bin/python tools/peers/records_lmdb.py build/release/roentgen [COUNT]

Random images, gray and in colour, as pixels (planes, blue first) and as PNG files, of sizes from a few bytes to many
pages, put in random order and partly deleted and put again, so that the tree has splits and pages that were freed.
`convert --to png` must give the same names, classes and pixels. Then files of three classes are converted by
`--to lmdb`: liblmdb must find every key, label and file, in order, and be able to delete and add entries. Exits 1
otherwise. Seed 0.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

import lmdb
import numpy as np
from PIL import Image


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def datum(pixels, label, is_encoded):
    """Encodes a Datum message of caffe.proto."""
    if is_encoded:
        file = io.BytesIO()
        Image.fromarray(pixels.squeeze()).save(file, "png")
        return b"\x22" + varint(len(file.getvalue())) + file.getvalue() + b"\x28" + varint(label) + b"\x38\x01"
    data = np.ascontiguousarray(pixels[:, :, ::-1].transpose(2, 0, 1)).tobytes()
    height, width, channels = pixels.shape
    head = b"\x08" + varint(channels) + b"\x10" + varint(height) + b"\x18" + varint(width)
    return head + b"\x22" + varint(len(data)) + data + b"\x28" + varint(label)


def fields_of(message):
    """Parses a message with varints and bytes alone into {number: value}."""
    fields, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key % 8 == 0:
            fields[key >> 3] = number()
        else:
            length = number()
            fields[key >> 3] = message[at : at + length]
            at += length
    return fields


def check_writing(program, root, count, rng):
    """Number of entries that liblmdb does not find as `convert --to lmdb` should write them."""
    files = {}
    for index in range(count):
        label = int(rng.integers(0, 3))
        side = int(rng.choice([1, 5, 30, 90]))
        path = root / "photos" / ["cat", "dog", "owl"][label] / f"{index}{'k' * 230}.png"  # for a tree of many levels
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (side, side + 1), dtype=np.uint8)).save(path)
        files[f"{path.parent.name}/{path.name}"] = (path.read_bytes(), label)
    subprocess.run([program, "convert", root / "photos", root / "caffe", "--to", "lmdb", "--verify", "--workers", "3",
                    "--set", "data.split_unit=image"], check=True, stdout=subprocess.DEVNULL)
    bad, found, deepest = 0, 0, 0
    for database in sorted((root / "caffe").glob("*_lmdb")):
        env = lmdb.open(str(database), map_size=1 << 30)
        with env.begin() as transaction:
            entries = list(transaction.cursor())
            stat = transaction.stat()
            bad += sum(transaction.get(key) != value for key, value in entries)  # found by the keys of branch pages
        deepest = max(deepest, stat["depth"])
        bad += [key for key, _ in entries] != sorted(key for key, _ in entries)
        bad += stat["entries"] != len(entries)
        for key, value in entries:
            datum = fields_of(value)
            digits, _, name = key.decode().partition("_")
            bad += len(digits) != 8 or (datum[4], datum[5]) != files.get(name) or datum[7] != 1
        found += len(entries)
        with env.begin(write=True) as transaction:
            for key, _ in entries[::3]:
                transaction.delete(key)
            for index in range(200):
                transaction.put(f"z{index}".encode(), bytes(index * 40))
        with env.begin() as transaction:
            left = {key for key, _ in transaction.cursor()}
        bad += left != {key for i, (key, _) in enumerate(entries) if i % 3} | {f"z{i}".encode() for i in range(200)}
        env.close()
    print(f"LMDB {'.'.join(map(str, lmdb.version()))}: {found} of {count} written entries found, {bad} differ, "
          f"{deepest} levels")
    return bad + (found != count)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "data").mkdir()
        wanted = {}
        env = lmdb.open(str(root / "data" / "train_lmdb"), map_size=1 << 32)
        for start in (0, 1, 2):
            with env.begin(write=True) as transaction:
                for index in rng.permutation(count)[:: start + 1]:
                    side = int(rng.choice([1, 5, 30, 90]))
                    pixels = rng.integers(0, 256, (side, side + 1, int(rng.choice([1, 3]))), dtype=np.uint8)
                    label = int(rng.integers(0, 7))
                    key = f"{index:08}_{index}.png"
                    transaction.put(key.encode(), datum(pixels, label, rng.random() < 0.5))
                    wanted[f"{index}.png"] = (pixels.squeeze(), label)
            with env.begin(write=True) as transaction:
                for index in rng.permutation(count)[: count // 5]:
                    if transaction.delete(f"{index:08}_{index}.png".encode()):
                        del wanted[f"{index}.png"]
        env.close()
        (root / "data" / "train_lmdb" / "lock.mdb").unlink()
        subprocess.run([sys.argv[1], "convert", root / "data", root / "png", "--to", "png", "--set",
                        "data.validation=none"], check=True, stdout=subprocess.DEVNULL)
        if (root / "data" / "train_lmdb" / "lock.mdb").exists():
            sys.exit("the data folder was written to")
        bad = 0
        with open(root / "png" / "labels.csv", encoding="utf-8") as file:
            rows = {row["path"].removeprefix("images/"): row for row in csv.DictReader(file)}
        for name, (pixels, label) in wanted.items():
            row = rows.get(name)
            is_same = row is not None and row[f"class {label}"] == "1" and np.array_equal(
                np.asarray(Image.open(root / "png" / "images" / name)), pixels.reshape(np.asarray(
                    Image.open(root / "png" / "images" / name)).shape))
            bad += not is_same
        bad += len(rows) != len(wanted)
        print(f"LMDB {'.'.join(map(str, lmdb.version()))}: {len(rows)} of {len(wanted)} entries read, {bad} differ")
        bad += check_writing(sys.argv[1], root, count, rng)
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
