# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tarballs of one commit are the same bytes, whenever they are packed. Run by `make lint`."""
import os
import pathlib
import tempfile
import unittest
import unittest.mock

import tarball


class Tarball(unittest.TestCase):
    def test_two_packings_are_equal(self):
        with tempfile.TemporaryDirectory() as place:
            packed = []
            for number, clock in enumerate((1_000_000_000.0, 2_000_000_000.0)):
                folder = pathlib.Path(place) / f"stage{number}"
                (folder / "bin").mkdir(parents=True)
                (folder / "bin/roentgen").write_text("a program")
                os.utime(folder / "bin/roentgen", (clock, clock))
                file = pathlib.Path(place) / str(number) / "roentgen-1.tar.gz"
                file.parent.mkdir()
                with (unittest.mock.patch("time.time", return_value=clock),
                      unittest.mock.patch.object(tarball.bundle, "commit_seconds", return_value=1_500_000_000)):
                    tarball.pack(folder, file)
                packed.append(file.read_bytes())
        self.assertEqual(packed[0], packed[1])


if __name__ == "__main__":
    unittest.main()
