#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Passes ctest's output on, and adds before its summary how many cases were skipped and why.

  ctest ... | tools/skipped_cases.py BUILD

ctest itself lists the tests all of whose cases were skipped. A test that ran some of its cases and skipped others counts
as passed, and ctest hides its output; tests/gtest_main.cpp leaves a line in ctest's log, which this program adds up.
"""
import collections
import pathlib
import re
import sys

_SUMMARY = re.compile(r"^\d+% tests passed")
_SKIPPED = re.compile(r"^\[tests\.main\] skipped (\d+) of (\d+) cases$", re.MULTILINE)
_REASON = re.compile(r"^SKIPPED: (.+)$", re.MULTILINE)


def summary_of(log):
    """Lines about skipped cases; empty if no case was skipped."""
    lines = []
    counts = [tuple(map(int, found)) for found in _SKIPPED.findall(log)]
    if counts:
        skipped, cases = map(sum, zip(*counts))
        lines.append(f"Skipped beside cases that passed: {skipped} of {cases} cases in {len(counts)} tests")
    reasons = collections.Counter(_REASON.findall(log))
    lines += [f"  {count:5} skipped: {reason}" for reason, count in reasons.most_common()]
    return "".join(f"{line}\n" for line in lines)


def main():
    log = pathlib.Path(sys.argv[1]) / "Testing" / "Temporary" / "LastTest.log"
    summary = []
    for line in sys.stdin:
        if summary or _SUMMARY.match(line):
            summary.append(line)
        else:
            print(line, end="", flush=True)
    # ctest has ended, so its log is complete.
    if summary and log.is_file():
        print(summary_of(log.read_text(encoding="utf-8", errors="replace")), end="")
    print("".join(summary), end="")


if __name__ == "__main__":
    main()
