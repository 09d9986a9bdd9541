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
    """PNG of 4 x 4 pixels; `rows` are filter bytes and samples."""
    head = struct.pack(">IIBBBBB", 4, 4, bits, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def element(group, number, kind, value):
    """Element of a DICOM file in explicit VR, little endian."""
    value += b"\0" * (len(value) % 2)
    head = struct.pack("<HH2s", group, number, kind)
    is_long = kind in (b"OB", b"OW", b"SQ")
    return head + (struct.pack("<HI", 0, len(value)) if is_long else struct.pack("<H", len(value))) + value


def dicom(syntax, pixels):
    """DICOM file of 2 x 2 pixels with 12 bits, a window and a VOI table; `pixels` is its last element."""
    def number(at, value):
        return element(0x28, at, b"US", struct.pack("<H", value))
    item = element(0x28, 0x3002, b"US", struct.pack("<HHH", 3, 0, 12))
    item += element(0x28, 0x3006, b"OW", b"\0\0\0\1\xff\x0f")
    meta = element(2, 0x10, b"UI", syntax)
    return (bytes(128) + b"DICM" + element(2, 0, b"UL", struct.pack("<I", len(meta))) + meta
            + element(8, 0x60, b"CS", b"DX") + number(2, 1) + element(0x28, 4, b"CS", b"MONOCHROME1 ") + number(0x10, 2)
            + number(0x11, 2) + number(0x100, 16) + number(0x101, 12) + number(0x102, 11) + number(0x103, 0)
            + element(0x28, 0x1050, b"DS", b"2000") + element(0x28, 0x1051, b"DS", b"1000")
            + element(0x28, 0x3010, b"SQ", struct.pack("<HHI", 0xFFFE, 0xE000, len(item)) + item) + pixels)


def fragments(frame):
    """DICOM pixel data with one fragment."""
    def item(number, data):
        return struct.pack("<HHI", 0xFFFE, number, len(data)) + data
    return (struct.pack("<HH2sHI", 0x7FE0, 0x10, b"OB", 0, 0xFFFFFFFF) + item(0xE000, b"") + item(0xE000, frame)
            + item(0xE0DD, b""))


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(name, kind, data):
    """Feature of a tf.train.Example; kind 1: bytes, 2: floats, 3: integers."""
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


def files():
    gray = b"".join(bytes([row % 5, 1, 2, 3, row]) for row in range(4))
    rgba16 = b"".join(bytes([4 - row]) + bytes(range(32)) for row in range(4))
    return {
        "png/gray8.png": png(0, 8, gray),
        "png/rgba16.png": png(6, 16, rgba16),
        "jpeg/gray.jpg": base64.b64decode(JPEG),
        "dicom/gray12.dcm": dicom(b"1.2.840.10008.1.2.1",
                                  element(0x7FE0, 0x10, b"OW", struct.pack("<4H", 0, 1, 2, 4095))),
        # RLE data with two byte planes, each a literal run of four bytes.
        "dicom/rle.dcm": dicom(b"1.2.840.10008.1.2.5", fragments(struct.pack("<16I", 2, 64, 70, *[0] * 13)
                                                                 + b"\x03\0\0\0\x0f\0" + b"\x03\0\1\2\xff\0")),
        "example/ours": example(png(0, 8, gray)),
        "tfrecord/one.tfrecord": record(example(png(0, 8, gray))),
        "tfrecord/example": example(b"x"),
        "safetensors/two.safetensors": safetensors(),
        "record_index/three": record_index(),
        "gzip/text.gz": gzip.compress(b"path,Mass\na.png,1\n", mtime=0),
    }


def record_index():
    """Body of an index file with three records, one for each form of labels."""
    def numbers(*values):
        return b"".join(struct.pack("<Q", value) for value in values)

    def text(value):
        return numbers(len(value)) + value

    def record(number, raw, labels):
        sample = text(b"00000001_000.png") + text(b"1") + text(b"PA") + text(b"F") + numbers(1, 0x427E0000)
        return numbers(number) + sample + numbers(12, 34, 5, 6, 0) + numbers(0) + raw + labels
    names = numbers(2) + text(b"Mass") + text(b"Edema")
    return (numbers(1) + text(b"a line") + text(b"image/split") + numbers(3)
            + record(1, numbers(1, 3, 2, 1, 16, 4095), numbers(0, 1) + names + numbers(2, 1, 0))
            + record(2, numbers(0), numbers(1) + names)
            + record(3, numbers(0), numbers(2, 7) + text(b"crane")))


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fuzz" / "corpus"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, data in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
