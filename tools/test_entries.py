#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes the ctest entries of one GoogleTest executable: one process per written test.

  tools/test_entries.py EXECUTABLE OUTPUT --label unit [--filter F] [--prefix P] PROPERTY=VALUE ...

TEST and TEST_F get an entry each. All instances of one TEST_P share an entry and so a process: GoogleTest names the
instance that fails. Instances of an instantiation named "Product" get the label `product`: they belong to
`make test-all` (src/engine/cpu/plan/product_testing.h). tools/check_test_environment.py shows that no case is left out.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

PRODUCT = "Product/"
# Exit status of a test program that skipped all its cases (tests/gtest_main.cpp).
SKIPPED_STATUS = "77"

Entry = collections.namedtuple("Entry", "name filter is_product")


def cases_of(listing):
    """Full names ("Suite.test/instance") in the output of --gtest_list_tests."""
    names, suite = [], ""
    for line in listing.splitlines():
        text = line.split("  #")[0].split("# GetParam()")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + text.strip())
        elif text.endswith("."):
            suite = text
    return names


def written_test_of(name):
    """Name of the test as in the source, without the parameter of the instance."""
    suite, _, test = name.partition(".")
    return f"{suite}.{test.split('/')[0]}"


def matcher_of(pattern):
    """Predicate on test names for a --gtest_filter: positive patterns, then negative ones after the first '-'."""
    positive, _, negative = pattern.partition("-")

    def regex_of(patterns):
        escaped = (re.escape(each).replace(r"\*", ".*").replace(r"\?", ".") for each in patterns.split(":") if each)
        return re.compile("|".join(escaped))

    wanted, unwanted = regex_of(positive or "*"), regex_of(negative)
    return lambda name: wanted.fullmatch(name) is not None and not (negative and unwanted.fullmatch(name))


def entries_of(cases, wanted="*", prefix=""):
    """Entries that together run every case accepted by `wanted` exactly once."""
    groups = collections.defaultdict(list)
    for name in cases:
        groups[written_test_of(name)].append(name)
    entries, is_wanted = [], matcher_of(wanted)
    for written, members in groups.items():
        taken = [name for name in members if is_wanted(name)]
        if not taken:
            continue
        if len(taken) < len(members):
            pattern = ":".join(taken)
        elif members == [written]:
            pattern = written
        else:
            pattern = f"{written}/*"
        entries.append(Entry(prefix + written, pattern, written.startswith(PRODUCT)))
    return entries


def list_cases(executable, environment):
    """Asks an executable for its cases, in the environment (NAME=VALUE ...) in which ctest runs it."""
    variables = dict(pair.split("=", 1) for pair in environment)
    listed = subprocess.run([executable, "--gtest_list_tests"], check=False, capture_output=True, text=True, timeout=60,
                            env=os.environ | variables)
    if listed.returncode != 0:
        sys.exit(f"[tests.list] {executable}: expected a list of its tests, got exit status {listed.returncode}: "
                 f"{listed.stderr.strip()}")
    return cases_of(listed.stdout)


def script_of(entries, executable, label, properties):
    """CMake code for ctest that adds the entries."""
    lines = []
    for entry in entries:
        given = {"LABELS": "product" if entry.is_product else label, "SKIP_RETURN_CODE": SKIPPED_STATUS, **properties}
        words = " ".join(f"{name} [==[{value}]==]" for name, value in given.items())
        lines.append(f"add_test([==[{entry.name}]==] [==[{executable}]==] [==[--gtest_filter={entry.filter}]==])\n"
                     f"set_tests_properties([==[{entry.name}]==] PROPERTIES {words})\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("executable")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--label", required=True)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--prefix", default="")
    parser.add_argument("properties", nargs="*", help="NAME=VALUE of ctest, a list with semicolons")
    given = parser.parse_intermixed_args()
    properties = dict(text.split("=", 1) for text in given.properties)
    cases = list_cases(given.executable, properties["ENVIRONMENT"].split(";"))
    entries = entries_of(cases, given.filter or "*", given.prefix)
    script = script_of(entries, given.executable, given.label, properties)
    # Several ctest processes may read the file at the same time.
    part = given.output.with_suffix(f".{os.getpid()}")
    part.write_text(script, encoding="utf-8")
    part.replace(given.output)


if __name__ == "__main__":
    main()
