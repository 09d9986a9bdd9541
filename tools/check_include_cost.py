#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compiles each public header of src/ alone and fails where that takes too long.

  tools/check_include_cost.py BUILD_DIR [--limit SECONDS]

Public: included by another room, or by nothing yet; helpers of tests (*_testing.h) are not. The cost is the compiler's own
CPU time (user), best of up to four tries, in seconds of the reference machine, on which <filesystem> alone takes 0.38 s:
machines differ and a busy one looks slower, so <filesystem> is compiled beside every try and the ratio is what counts.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile

from check_borders import room_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRIES = 4
REFERENCE_SECONDS = 0.38  # <filesystem> alone
# Only what is beyond limit and noise fails. Compilers side by side slow a large header more than <filesystem>: one that
# takes 0.53 s alone came out at 0.60 to 0.67 with two to four beside it, whatever the number of tries. So headers are
# kept below 0.55 s, and what is found above 0.6 s but within the noise is worth a look on a quiet machine.
NOISE = 0.2
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def public_headers(src):
    """Paths below src/ of the headers that other rooms include, and of those that nothing includes yet."""
    users = {}
    for file in src.rglob("*"):
        if file.suffix in (".h", ".cpp", ".cu"):
            path = file.relative_to(src).as_posix()
            for header in _INCLUDE.findall(file.read_text(encoding="utf-8")):
                if pathlib.PurePath(header).stem != pathlib.PurePath(path).stem:
                    users.setdefault(header, set()).add(room_of(path))
    headers = sorted(p.relative_to(src).as_posix() for p in src.rglob("*.h") if not p.name.endswith("_testing.h"))
    return [h for h in headers if users.get(h, set()) - {room_of(h)} or not users.get(h)]


def include_flags(build):
    """All -I, -isystem and -D of the build's compile commands, each once."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for word, following in zip(words, words[1:] + [""]):
            if word == "-isystem":
                flags[(word, following)] = None
            elif word.startswith(("-I", "-D")):
                flags[(word,)] = None
    return [part for flag in flags for part in flag]


def cost(compiler, flags, include):
    """User seconds of one compilation of `#include <include>`, or None when it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(f"#include {include}\n")
        source.flush()
        arguments = [compiler, "-std=c++20", "-fsyntax-only", *flags, source.name]
        child = os.posix_spawnp(compiler, arguments, os.environ)
        _, status, usage = os.wait4(child, 0)
        return usage.ru_utime if status == 0 else None


def best_cost(compiler, flags, header, limit):
    best = None
    for _ in range(TRIES):
        reference = cost(compiler, flags, "<filesystem>")
        seconds = cost(compiler, flags, f'"{header}"')
        if seconds is None or not reference:
            return None
        seconds *= REFERENCE_SECONDS / reference
        best = seconds if best is None else min(best, seconds)
        if best <= limit:
            break
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=0.6, help="seconds (0.6)")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    arguments = parser.parse_args()
    headers = public_headers(ROOT / "src")
    flags = include_flags(arguments.build)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        measure = lambda header: best_cost(arguments.compiler, flags, header, arguments.limit)
        costs = dict(zip(headers, pool.map(measure, headers)))
    # Those that came out too slow, again and one at a time: side by side they slow each other.
    most = arguments.limit * (1 + NOISE)
    for header in [h for h, seconds in costs.items() if seconds is not None and seconds > most]:
        costs[header] = min(costs[header], measure(header) or costs[header])
    failed = [h for h, seconds in costs.items() if seconds is None or seconds > most]
    for header in failed:
        got = "an error" if costs[header] is None else f"{costs[header]:.2f} s"
        print(f"src/{header}: expected to compile alone within {arguments.limit} s, got {got}")
    known = {h: seconds for h, seconds in costs.items() if seconds is not None}
    if known:
        slowest = max(known, key=known.get)
        print(f"include cost: {len(headers)} public headers, slowest {slowest} with {known[slowest]:.2f} s, "
              f"{len(failed)} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
