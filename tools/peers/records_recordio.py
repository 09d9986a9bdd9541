#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks files of `roentgen convert --to recordio` with a reader of RecordIO that shares no code with Roentgen.

  tools/peers/records_recordio.py build/release/roentgen [COUNT]

The reader follows dmlc-core's description of RecordIO and MXNet's IRHeader (struct "IfQQ"). It finds each record by
the offset in `.idx`, and compares label, number, name and file with the images of a data set of class folders. Some
files contain RecordIO's magic number, so that their records have several parts. Needs only the standard library. Exits
1 if anything differs.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zlib

MAGIC = struct.pack("<I", 0xCED7230A)


def read_record(data, at):
    """Content of the record at an offset, and the offset after it."""
    content = b""
    while True:
        magic, word = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        assert magic == MAGIC, "no record begins here"
        part, length = word >> 29, word & (1 << 29) - 1
        if part in (2, 3):
            content += MAGIC
        content += data[at + 8 : at + 8 + length]
        at += 8 + (length + 3) // 4 * 4
        if part in (0, 3):
            return content, at


def png(pixels, side, comment):
    """Encodes a gray picture, with `comment` in a text chunk."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows = b"".join(b"\0" + pixels[i * side : (i + 1) * side] for i in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"tEXt", b"Comment\0" + comment) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {}
        for index in range(count):
            label = draw.randrange(3)
            side = draw.choice([2, 7, 40])
            path = root / "photos" / ["cat", "dog", "owl"][label] / f"{index}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            comment = b"x" * draw.randrange(4) + MAGIC * draw.randrange(4)
            path.write_bytes(png(draw.randbytes(side * side), side, comment))
            files[f"{path.parent.name}/{path.name}"] = (path.read_bytes(), label)
        subprocess.run([sys.argv[1], "convert", root / "photos", root / "mxnet", "--to", "recordio", "--shards", "2",
                        "--workers", "3", "--verify", "--set", "data.split_unit=image"],
                       check=True, stdout=subprocess.DEVNULL)
        found, parts, bad = 0, 0, 0
        for records in sorted((root / "mxnet").glob("*.rec")):
            data = records.read_bytes()
            names = dict(line.split("\t")[::2] for line in records.with_suffix(".lst").read_text().splitlines())
            at = 0
            for line in records.with_suffix(".idx").read_text().splitlines():
                key, offset = map(int, line.split("\t"))
                bad += offset != at
                content, at = read_record(data, offset)
                parts += struct.unpack_from("<I", data, offset + 4)[0] >> 29 != 0
                flag, label, number, other = struct.unpack_from("<IfQQ", content)
                bad += (flag, number, other) != (0, key, 0)
                bad += files.get(names.get(str(key))) != (content[24:], int(label))
                found += 1
            bad += at != len(data)
        print(f"RecordIO: {found} of {count} records found, {parts} in several parts, {bad} differ")
        return 0 if found == count and parts > 0 and bad == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
