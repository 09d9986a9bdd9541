#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs clang-tidy over the sources of src/ (tests excepted), again only where something it reads has changed.

  tools/tidy.py BUILD_DIR [FILE ...]

Sources that fit together are checked as one (tidy_groups.py); where that finds anything, each is checked alone, and that
counts. A clean file leaves a stamp in build/tidy, named by a hash of the file, everything of ours it includes, its compile
command, .clang-tidy and clang-tidy's version. What clang cannot parse (an old one trips over libstdc++'s ranges) is
named but no finding: whether the code compiles is for the compiler to say. A header that is not there is a finding,
since what follows it is checked against nothing.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import tidy_groups

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAMPS = ROOT / "build" / "tidy"
GROUPS = STAMPS / "groups"
SHIMS = ROOT / "tools" / "clang_tidy_shims"
# More save little, and more is checked again when one of them has a finding.
_LARGEST_GROUP = 8
_FINDING = re.compile(r"^\S+:\d+:\d+: (error|warning): ")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def reachable(path, seen):
    """Adds `path` and all files of src/ that it includes, directly or not."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in _INCLUDE.findall(path.read_text(encoding="utf-8")):
        reachable(ROOT / "src" / name, seen)


def stamp_of(source, command, version):
    files = set()
    reachable(source, files)
    digest = hashlib.sha256(f"{version}\n{command}\n".encode())
    settings = [folder / ".clang-tidy" for folder in source.parents if folder.is_relative_to(ROOT)]
    for path in [*filter(pathlib.Path.is_file, settings), *sorted(SHIMS.iterdir()), *sorted(files)]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return STAMPS / digest.hexdigest()


def extra_arguments(version):
    major = int(re.search(r"version (\d+)", version).group(1))
    shims = ["-isystem", str(SHIMS)] if major < 16 else []
    return [f"--extra-arg-before={a}" for a in shims] + [
        "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument",
        "--extra-arg=-Wno-string-conversion", "--extra-arg=-Wreserved-identifier"]


def run(name, options):
    """(findings, parse errors), each a list of lines; a note belongs to the line before it."""
    command = ["clang-tidy", "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    findings, unparsed, current = [], [], None
    for line in done.stdout.splitlines():
        if _FINDING.match(line):
            is_parse_error = "[clang-diagnostic-error]" in line and "file not found" not in line
            current = unparsed if is_parse_error else findings
        if current is not None:
            current.append(line)
    if done.returncode != 0 and not findings and not unparsed:
        findings = [f"{name}: clang-tidy failed", done.stderr]
    return findings, unparsed


def errors_in(folder, lines):
    """Those of the lines that are an error in a file below `folder`, and no note on one elsewhere."""
    return [line for line in lines if _FINDING.match(line) and line.startswith(f"{folder}/")]


def run_alone(source, build, extra):
    return run(source, ["-p", str(build), *extra, str(source)])


def run_together(group, arguments, extra):
    """As run(), on a file that includes the sources; it stands in their folder, and so under the same .clang-tidy."""
    key = hashlib.sha256("\n".join(map(str, group)).encode()).hexdigest()
    real, overlay, name = GROUPS / f"{key}.cpp", GROUPS / f"{key}.json", group[0].parent / f"group-{key}.cpp"
    real.write_text("".join(f'#include "{source}"  // NOLINT\n' for source in group))
    overlay.write_text(json.dumps({"version": 0, "roots": [
        {"type": "file", "name": str(name), "external-contents": str(real)}]}))
    # A name of one source may hide a name of another: -Wshadow is for the compiler, which sees each alone.
    return run(name, [f"--vfsoverlay={overlay}", *extra, str(name), "--", *arguments, "-Wno-error"])


def check(group, arguments, build, extra):
    """{source: (findings, parse errors)} of sources that may fit together."""
    if len(group) > 1:
        findings, unparsed = run_together(group, arguments, extra)
        if not findings and not errors_in(ROOT, unparsed):
            return {source: ([], unparsed if source == group[0] else []) for source in group}
    return {source: run_alone(source, build, extra) for source in group}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    entries = {entry["file"]: entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())}
    wanted = {str(pathlib.Path(name).resolve()) for name in sys.argv[2:]}
    todo = {}
    for name, command in sorted(entries.items()):
        source = pathlib.Path(name)
        is_ours = source.is_relative_to(ROOT / "src") and source.suffix == ".cpp" and not name.endswith("_test.cpp")
        if not is_ours or not source.is_file() or (wanted and name not in wanted):
            continue
        stamp = stamp_of(source, command, version)
        if not stamp.exists():
            todo[source] = stamp
    GROUPS.mkdir(parents=True, exist_ok=True)
    extra = extra_arguments(version)
    tally = collections.Counter()
    groups = tidy_groups.groups_of(todo, {source: entries[str(source)] for source in todo}, _LARGEST_GROUP)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(check, group, tidy_groups.arguments_of(entries[str(group[0])]), build, extra)
                for group in sorted(groups, key=len, reverse=True)]
        for job in concurrent.futures.as_completed(jobs):
            for source, (findings, unparsed) in job.result().items():
                if unparsed:
                    tally["unparsed"] += 1
                    print(f"note: not parsed in full: {unparsed[0]}", flush=True)
                if findings:
                    tally["failures"] += 1
                    print("\n".join(findings), flush=True)
                else:
                    todo[source].touch()
    print(f"tidy: {len(todo)} files checked in {len(groups)} groups, {tally['failures']} with findings, "
          f"{tally['unparsed']} not parsed in full")
    return 1 if tally["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
