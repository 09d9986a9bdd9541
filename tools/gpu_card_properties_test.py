# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests tools/gpu/card_properties.py: cuDNN returns the properties that it was given, and errors have one line."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "gpu" / "card_properties.py"
sys.path.insert(0, str(TOOL.parent))
import card_properties  # noqa: E402

H200 = {"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
        "multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
        "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
        "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
        "supportCoopLaunch": 1, "totalGlobalMem": 150109880320, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
        "l2CacheSize": 62914560, "cudaDeviceId": 0, "deviceVer": 900, "driverVer": 13000, "deviceName": "NVIDIA H200"}


class CardProperties(unittest.TestCase):
    def test_the_text_comes_back(self):
        try:
            properties = card_properties.Properties()
        except OSError as error:
            self.skipTest(f"NO CUDNN, NOTHING TESTED: {error}")
        self.assertEqual(json.loads(properties.take_text(json.dumps(H200)).text()), H200)

    def test_a_missing_library_is_named_in_one_line(self):
        ended = subprocess.run([sys.executable, str(TOOL)], env={**os.environ, "ROENTGEN_CUDNN": "/no/such/cudnn.so"},
                               capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stdout, "")
        self.assertIn("/no/such/cudnn.so", ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
