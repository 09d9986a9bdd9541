#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Preprocesses each public header of src/ alone, and fails if the preprocessed text is too large.

  tools/check_include_cost.py BUILD_DIR [--limit RATIO]

A header is public if another room (module of src) includes it, or no file yet; test helpers (*_testing.h) are not public.
The cost is the size of the preprocessed text relative to that of <filesystem>, which compiles alone in 0.38 s. Compile
times of our 91 largest headers are 0.75 to 1.3 times (median 1.0) the time that this size predicts. Size is used because
time depends on the machine and on other programs, while size depends only on the compiler.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from check_borders import room_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 1.7  # about 0.65 s to compile alone
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
    """All options -I, -isystem and -D in the build's compile commands, without duplicates."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for word, following in zip(words, words[1:] + [""]):
            if word == "-isystem":
                flags[(word, following)] = None
            elif word.startswith(("-I", "-D")):
                flags[(word,)] = None
    return [part for flag in flags for part in flag]


def text_bytes(compiler, flags, include):
    """Size of `#include <include>` when preprocessed, in bytes without comments and line markers; None if that
    fails."""
    command = [compiler, "-std=c++20", "-E", "-P", *flags, "-x", "c++", "-"]
    done = subprocess.run(command, input=f"#include {include}\n".encode(), capture_output=True, check=False)
    return len(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"multiple of <filesystem> ({LIMIT})")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    arguments = parser.parse_args()
    headers = public_headers(ROOT / "src")
    flags = include_flags(arguments.build)
    reference = text_bytes(arguments.compiler, flags, "<filesystem>")
    if not reference:
        print(f"include cost: expected {arguments.compiler} to preprocess <filesystem>, got an error; try --compiler")
        return 1
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        sizes = pool.map(lambda header: text_bytes(arguments.compiler, flags, f'"{header}"'), headers)
        costs = {header: size and size / reference for header, size in zip(headers, sizes)}
    failed = [h for h, cost in costs.items() if cost is None or cost > arguments.limit]
    for header in failed:
        got = "an error" if costs[header] is None else f"{costs[header]:.2f}"
        print(f"src/{header}: expected at most {arguments.limit} times the text of <filesystem>, got {got}; "
              "try forward declarations")
    known = {h: cost for h, cost in costs.items() if cost is not None}
    if known:
        largest = max(known, key=known.get)
        print(f"include cost: {len(headers)} public headers, largest {largest} with {known[largest]:.2f} times "
              f"<filesystem>, {len(failed)} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
