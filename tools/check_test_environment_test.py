# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of check_test_environment.py."""
import unittest

import check_test_environment as checked

WHOLE = ["ROENTGEN_SOURCE_DIR=/s", "OMP_NUM_THREADS=1", "OMP_WAIT_POLICY=passive",
         "RC_PARAMS=seed=1", "XDG_CACHE_HOME=/b/test-cache"]


def test_of(environment, program="/b/core_test", name="Room.works"):
    """A test as ctest lists it."""
    return {"name": name, "command": [program], "properties": [{"name": "ENVIRONMENT", "value": environment}]}


class CheckTestEnvironment(unittest.TestCase):
    """What is found in ctest's list."""

    def test_a_whole_environment_passes(self):
        self.assertEqual(checked.findings_of([test_of(WHOLE)]), [])

    def test_each_variable_is_missed(self):
        for i, pair in enumerate(WHOLE):
            findings = checked.findings_of([test_of(WHOLE[:i] + WHOLE[i + 1:])])
            self.assertEqual(len(findings), 1)
            self.assertIn(pair.split("=")[0], findings[0])

    def test_no_environment_at_all_is_found(self):
        self.assertEqual(len(checked.findings_of([{"name": "Room.works", "command": ["x"], "properties": []}])), 1)

    def test_what_is_not_built_is_passed_over(self):
        self.assertEqual(checked.findings_of([{"name": "core_test_NOT_BUILT"}]), [])

    def test_the_limit_is_for_its_own_program(self):
        limited = WHOLE + ["DNNL_MAX_CPU_ISA=AVX2"]
        program = "/b/engine_cpu_avx2_test"
        self.assertEqual(checked.findings_of([test_of(limited, program)]), [])
        self.assertEqual(len(checked.findings_of([test_of(WHOLE, program)])), 1)
        self.assertEqual(len(checked.findings_of([test_of(limited)])), 1)


if __name__ == "__main__":
    unittest.main()
