# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import pathlib
import struct
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nih_originals  # noqa: E402


def png(filters, colour=0):
    """PNG with rows of 2 px, each with the named filter."""
    rows = b"".join(bytes([row_filter, 0, 0]) for row_filter in filters)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 2, len(filters), 8, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class NihOriginals(unittest.TestCase):
    def test_files_with_other_filters_than_sub_are_originals(self):
        self.assertTrue(nih_originals.is_original(png([1, 4, 1])))
        self.assertFalse(nih_originals.is_original(png([1, 1, 1])))
        self.assertFalse(nih_originals.is_original(png([4, 4], colour=2)))
        self.assertFalse(nih_originals.is_original(b"no picture"))

    def test_each_is_copied_as_often_as_asked(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.png").write_bytes(png([4, 2]))
            (folder / "b.png").write_bytes(png([1, 1]))
            self.assertEqual(nih_originals.copy_originals(folder, folder / "out", 3), 3)
            self.assertEqual(sorted(path.name for path in (folder / "out").iterdir()),
                             ["a_000.png", "a_001.png", "a_002.png"])
            with self.assertRaises(SystemExit):
                nih_originals.copy_originals(folder / "out" / "none", folder / "other")


if __name__ == "__main__":
    unittest.main()
