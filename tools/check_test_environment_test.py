# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of check_test_environment.py."""
import unittest

import check_test_environment as checked

WHOLE = ["ROENTGEN_SOURCE_DIR=/s", "OMP_NUM_THREADS=1", "OMP_WAIT_POLICY=passive",
         "RC_PARAMS=seed=1", "XDG_CACHE_HOME=/b/test-cache"]


LABELS = {"unit", "slow"}


def test_of(environment, program="/b/core_test", name="Room.works", label="unit"):
    """A test as ctest lists it."""
    return {"name": name, "command": [program, f"--gtest_filter={name}"],
            "properties": [{"name": "ENVIRONMENT", "value": environment}, {"name": "LABELS", "value": [label]}]}


class CheckTestEnvironment(unittest.TestCase):
    """Findings in ctest's list."""

    def test_a_whole_environment_passes(self):
        self.assertEqual(checked.findings_of([test_of(WHOLE)], LABELS), [])

    def test_each_variable_is_missed(self):
        for i, pair in enumerate(WHOLE):
            findings = checked.findings_of([test_of(WHOLE[:i] + WHOLE[i + 1:])], LABELS)
            self.assertEqual(len(findings), 1)
            self.assertIn(pair.split("=")[0], findings[0])

    def test_no_environment_at_all_is_found(self):
        bare = {"name": "Room.works", "command": ["x"], "properties": [{"name": "LABELS", "value": ["unit"]}]}
        self.assertEqual(len(checked.findings_of([bare], LABELS)), 1)

    def test_what_is_not_built_is_passed_over(self):
        self.assertEqual(checked.findings_of([{"name": "core_test_NOT_BUILT"}], LABELS), [])

    def test_the_limit_is_for_its_own_program(self):
        limited = WHOLE + ["DNNL_MAX_CPU_ISA=AVX2"]
        program = "/b/engine_cpu_avx2_test"
        self.assertEqual(checked.findings_of([test_of(limited, program)], LABELS), [])
        self.assertEqual(len(checked.findings_of([test_of(WHOLE, program)], LABELS)), 1)
        self.assertEqual(len(checked.findings_of([test_of(limited)], LABELS)), 1)

    def test_a_label_that_make_does_not_run_is_found(self):
        self.assertEqual(checked.findings_of([test_of(WHOLE, label="weekly")], LABELS),
                         ["Room.works: expected a label that make runs, got ['weekly']"])

    def test_labels_are_those_of_the_makefile(self):
        labels = checked.labels_of(checked.MAKEFILE.read_text(encoding="utf-8"))
        self.assertEqual(labels, {"unit", "parallel", "e2e", "real", "slow", "gpu", "product", "mpich"})


class Uncovered(unittest.TestCase):
    """Cases that ctest's entries leave out."""

    def test_entries_that_run_each_case_once_pass(self):
        filters = {"A.b": "A.b", "All/P.q/*": "All/P.q"}
        self.assertEqual(checked.uncovered(filters, ["A.b", "All/P.q/0", "All/P.q/1"], set()), [])

    def test_a_case_in_no_entry_or_in_two_is_named(self):
        filters = {"A.b": "A.b", "A.*": "A"}
        self.assertEqual(checked.uncovered(filters, ["A.b", "C.d"], set()),
                         ["A.b: expected one entry of ctest, got 2", "C.d: expected one entry of ctest, got 0"])

    def test_an_entry_without_a_case_and_a_disabled_test_are_named(self):
        filters = {"A.gone": "A.gone", "A.DISABLED_b": "A.DISABLED_b"}
        self.assertEqual(checked.uncovered(filters, ["A.DISABLED_b"], set()),
                         ["A.DISABLED_b: expected a test that runs, got a disabled one",
                          "A.gone: expected a case, got none"])

    def test_a_case_that_another_executable_runs_may_be_left_out(self):
        self.assertEqual(checked.uncovered({"A.b": "A.b"}, ["A.b", "C.d"], {"C.d"}), [])
        self.assertEqual(checked.uncovered({"A.b": "A.b"}, ["A.b", "Ways/C.d/0"], {"C.d/0"}), [])

    def test_filters_are_found_by_executable(self):
        tests = [test_of(WHOLE), test_of(WHOLE, name="Room.goes"), {"name": "Fault.dies", "command": ["/b/dist_fault"]}]
        self.assertEqual(checked.filters_of(tests),
                         {"/b/core_test": ({"Room.works": "Room.works", "Room.goes": "Room.goes"}, WHOLE)})


if __name__ == "__main__":
    unittest.main()
