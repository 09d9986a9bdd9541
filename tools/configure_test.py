# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""A configuration says what it goes without, and refuses an MPI compiler that was asked for and is not there."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Configure(unittest.TestCase):
    def configure(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DRG_CUDA=OFF", "-DRG_TESTS=OFF", *options],
                                  capture_output=True, text=True, check=False)

    def test_an_mpi_compiler_that_is_not_there_is_named(self):
        ended = self.configure("-DMPI_C_COMPILER=mpicc.none")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("got mpicc.none, which is not installed", " ".join(ended.stderr.split()))

    def test_what_is_off_is_said_with_its_reason(self):
        ended = self.configure("-DRG_MPI=OFF", "-DRG_DICOM=OFF")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for line in ("MPI         off: RG_MPI=OFF", "DICOM       off: RG_DICOM=OFF", "CUDA        off: RG_CUDA=OFF"):
            self.assertIn(line, ended.stdout)


if __name__ == "__main__":
    unittest.main()
