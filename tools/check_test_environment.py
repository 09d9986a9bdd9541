#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks that ctest gives every test its environment, and that every test case runs. Exits 1 with one line a finding.

  tools/check_test_environment.py BUILD

Environment of a test: cmake/roentgen_room.cmake, roentgen_test_environment(). Every case that an executable lists runs
in exactly one entry of ctest (tools/test_entries.py), whose label `make test` or `make test-all` runs. Executables that
are not built are skipped, because ctest reports them as failed.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import test_entries

MAKEFILE = pathlib.Path(__file__).resolve().parent.parent / "Makefile"
WANTED = ("ROENTGEN_SOURCE_DIR", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "RC_PARAMS", "XDG_CACHE_HOME")
LIMITED = "engine_cpu_avx2_test"
# An executable that contains the cases of another one and runs some of them. Instantiation names may differ between the
# two, because the unit of a case may differ (engine/cpu/plan/product_testing.h).
SAME_CASES = {"emulated_tiles_test": "engine_cpu_test"}


def property_of(test, name):
    """Value of a test's property; an empty list if it is not set."""
    return next((item["value"] for item in test.get("properties", []) if item["name"] == name), [])


def environment_of(test):
    """Environment variables that ctest sets for a test, by name."""
    return dict(pair.split("=", 1) for pair in property_of(test, "ENVIRONMENT"))


def labels_of(makefile):
    """Labels that `make test` and `make test-all` run."""
    return {label for text in re.findall(r"^\w+_LABELS := (.*)$", makefile, re.MULTILINE) for label in text.split("|")}


def findings_of(tests, labels):
    """One line for every test in ctest's list that lacks variables or a label, or has a wrong time limit."""
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
        if not labels & set(property_of(test, "LABELS")):
            findings.append(f"{test['name']}: expected a label that make runs, got {property_of(test, 'LABELS')}")
    return findings


def filters_of(tests):
    """{executable: ({filter of an entry: name of the entry}, environment)} of the GoogleTest executables."""
    found = {}
    for test in tests:
        for word in test.get("command", []):
            if word.startswith("--gtest_filter="):
                filters, _ = found.setdefault(test["command"][0], ({}, property_of(test, "ENVIRONMENT")))
                filters[word.split("=", 1)[1]] = test["name"]
    return found


def without_instantiation(name):
    """Name of a case without the first word of "Instantiation/Suite.test/instance"."""
    suite, _, test = name.partition(".")
    return f"{suite.split('/', 1)[-1]}.{test}"


def uncovered(filters, cases, elsewhere):
    """One line for every case that runs in no entry or in several, and every entry that runs no case.

    `filters`: {filter: name of the entry} of one executable; `cases` are its own; `elsewhere` are those that another
    executable runs, without their instantiations.
    """
    findings, used, runs = [], set(), collections.Counter()
    for pattern in filters:
        is_taken = test_entries.matcher_of(pattern)
        taken = [name for name in cases if is_taken(name)]
        runs.update(taken)
        if taken:
            used.add(pattern)
    for name in cases:
        if "DISABLED_" in name:
            findings.append(f"{name}: expected a test that runs, got a disabled one")
        elif runs[name] != 1 and not (runs[name] == 0 and without_instantiation(name) in elsewhere):
            findings.append(f"{name}: expected one entry of ctest, got {runs[name]}")
    findings += [f"{entry}: expected a case, got none" for pattern, entry in filters.items() if pattern not in used]
    return findings


def main():
    """Asks ctest for its tests and every executable for its cases."""
    listed = subprocess.run(["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"], check=True,
                            capture_output=True, text=True)
    tests = json.loads(listed.stdout)["tests"]
    findings = findings_of(tests, labels_of(MAKEFILE.read_text(encoding="utf-8")))
    filters = filters_of(tests)
    cases = {pathlib.Path(path).name: test_entries.list_cases(path, environment)
             for path, (_, environment) in filters.items()}
    for path, (patterns, _) in filters.items():
        name = pathlib.Path(path).name
        elsewhere = {without_instantiation(case) for case in cases.get(SAME_CASES.get(name), [])}
        lines = uncovered(patterns, cases[name], elsewhere)
        findings += [f"{name}: {line}" for line in lines]
    if not cases:
        findings.append("expected tests, got none")
    for line in findings:
        print(line)
    print(f"{sum(map(len, cases.values()))} cases of {len(cases)} executables in {len(tests)} entries of ctest")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
