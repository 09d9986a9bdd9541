#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks that ctest gives every test its environment. Exits 1 with one line a test that lacks some of it.

  tools/check_test_environment.py BUILD

What a test needs: cmake/roentgen_room.cmake, roentgen_test_environment(). Tests of programs that are not built are
passed over.
"""
import json
import subprocess
import sys

WANTED = ("ROENTGEN_SOURCE_DIR", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "RC_PARAMS", "XDG_CACHE_HOME")
LIMITED = "engine_cpu_avx2_test"


def environment_of(test):
    """The variables ctest sets for a test, by name."""
    for item in test.get("properties", []):
        if item["name"] == "ENVIRONMENT":
            return dict(pair.split("=", 1) for pair in item["value"])
    return {}


def findings_of(tests):
    """One line for every test of ctest's list that lacks variables, or has a limit that is not its own."""
    findings = []
    for test in tests:
        if test["name"].endswith("_NOT_BUILT"):
            continue
        given = environment_of(test)
        lacking = [name for name in WANTED if not given.get(name)]
        if lacking:
            findings.append(f"{test['name']}: expected {', '.join(lacking)} in its environment, got none")
        is_limited = any(part.endswith(LIMITED) for part in test.get("command", []))
        wanted = "AVX2" if is_limited else None
        if given.get("DNNL_MAX_CPU_ISA") != wanted:
            findings.append(f"{test['name']}: expected DNNL_MAX_CPU_ISA {wanted}, got {given.get('DNNL_MAX_CPU_ISA')}")
    return findings


def main():
    """Asks ctest for its tests."""
    listed = subprocess.run(["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"], check=True,
                            capture_output=True, text=True)
    tests = json.loads(listed.stdout)["tests"]
    findings = findings_of(tests)
    if not tests:
        findings.append("expected tests, got none")
    for line in findings:
        print(line)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
