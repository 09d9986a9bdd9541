#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes the tiny binary inputs of tests/fuzz/corpus (the texts there are written by hand).

  tools/fuzz_corpus.py [FOLDER]
"""
import base64
import gzip
import json
import pathlib
import struct
import sys
import zlib

# 8x8 gray, quality 50.
JPEG = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBk"
    "eFxlZ2P/wAALCAAIAAgBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEG"
    "E1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJ"
    "ipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AEg8Hf8ATP8A"
    "Sv/Z"
)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(colour, bits, rows, interlace=0):
    """A PNG of 4 x 4 pixels: `rows` are filter bytes and samples."""
    head = struct.pack(">IIBBBBB", 4, 4, bits, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(name, kind, data):
    """kind: 1 bytes, 2 floats, 3 integers."""
    return field(1, field(1, name.encode()) + field(2, field(kind, data)))


def example(image):
    features = feature("image/encoded", 1, field(1, image))
    features += feature("image/filename", 1, field(1, b"00000013_005.png"))
    features += feature("image/label", 3, field(1, bytes([0, 1])))
    features += feature("image/label_names", 1, field(1, b"Mass") + field(1, b"Edema"))
    features += feature("image/age", 2, field(1, struct.pack("<f", 61.0)))
    return field(1, features)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def safetensors():
    header = {"__metadata__": {"a": "b"}, "x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
              "y": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [8, 12]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(12)


def dicom():
    """Explicit little endian, 2 x 2 pixels of 12 bits."""
    def element(group, number, kind, value):
        value += b"\0" * (len(value) % 2)
        if kind == b"OW":
            return struct.pack("<HH2sHI", group, number, kind, 0, len(value)) + value
        return struct.pack("<HH2sH", group, number, kind, len(value)) + value

    def short(value):
        return struct.pack("<H", value)

    meta = element(2, 0x10, b"UI", b"1.2.840.10008.1.2.1")
    head = element(2, 0, b"UL", struct.pack("<I", len(meta))) + meta
    body = element(0x28, 2, b"US", short(1)) + element(0x28, 4, b"CS", b"MONOCHROME2")
    body += element(0x28, 0x10, b"US", short(2)) + element(0x28, 0x11, b"US", short(2))
    body += element(0x28, 0x100, b"US", short(16)) + element(0x28, 0x101, b"US", short(12))
    body += element(0x28, 0x102, b"US", short(11)) + element(0x28, 0x103, b"US", short(0))
    body += element(0x28, 0x1050, b"DS", b"2048") + element(0x28, 0x1051, b"DS", b"4096")
    body += element(0x7FE0, 0x10, b"OW", struct.pack("<4H", 0, 100, 2000, 4095))
    return bytes(128) + b"DICM" + head + body


def files():
    gray = b"".join(bytes([row % 5, 1, 2, 3, row]) for row in range(4))
    rgba16 = b"".join(bytes([4 - row]) + bytes(range(32)) for row in range(4))
    return {
        "png/gray8.png": png(0, 8, gray),
        "png/rgba16.png": png(6, 16, rgba16),
        "jpeg/gray.jpg": base64.b64decode(JPEG),
        "dicom/raw12.dcm": dicom(),
        "example/ours": example(png(0, 8, gray)),
        "tfrecord/one.tfrecord": record(example(png(0, 8, gray))),
        "tfrecord/example": example(b"x"),
        "safetensors/two.safetensors": safetensors(),
        "gzip/text.gz": gzip.compress(b"path,Mass\na.png,1\n", mtime=0),
    }


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fuzz" / "corpus"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, data in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
