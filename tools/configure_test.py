# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests that CMake's configuration prints which features are left out."""
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

    def test_mpi_is_on_where_the_machine_has_none(self):
        ended = self.configure("-DRG_MPIEXEC_openmpi=", "-DRG_MPIEXEC_mpich=")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("MPI         on: loaded by the program, tests under none", ended.stdout)

    def test_what_is_off_is_said_with_its_reason(self):
        ended = self.configure("-DRG_MPI=OFF", "-DRG_DICOM=OFF")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for line in ("MPI         off: RG_MPI=OFF", "DICOM       off: RG_DICOM=OFF", "CUDA        off: RG_CUDA=OFF"):
            self.assertIn(line, ended.stdout)


if __name__ == "__main__":
    unittest.main()
