#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs clang-tidy on the sources of src/ except tests. Skips sources that are unchanged since they had no finding.

  tools/tidy.py BUILD_DIR              every source
  tools/tidy.py BUILD_DIR --changed    those that differ from the base (changed_files.py); all if the settings differ
  tools/tidy.py BUILD_DIR FILE ...     these

A changed header is checked through one source that includes it: the one of its name, or else the first.
Sources that fit together are checked as one (tidy_groups.py); where that finds anything, each is checked alone, and that
counts. A clean file leaves a stamp in the user's cache (XDG_CACHE_HOME, ~/.cache), which a fresh clone finds: a hash of
the file, everything of ours it includes, its compiler options, .clang-tidy and clang-tidy's version. Code that clang
cannot parse (old versions fail on libstdc++'s ranges) is named, but is no finding, because the compiler decides whether
code is valid. A missing header is a finding, because the code after it cannot be checked.
"""
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import changed_files
import tidy_groups

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAMPS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "roentgen-tidy"
GROUPS = ROOT / "build" / "tidy"
# Days after which an unused stamp is deleted, because its state of the source no longer exists.
_STAMP_DAYS = 60
SHIMS = ROOT / "tools" / "clang_tidy_shims"
# Largest group. Larger groups save little, and a finding makes more sources be checked again.
_LARGEST_GROUP = 8
_FINDING = re.compile(r"^\S+:\d+:\d+: (error|warning): ")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@functools.cache
def included_by(path):
    """Names of this project's headers that a file includes; None if there is no such file."""
    return _INCLUDE.findall(path.read_text(encoding="utf-8")) if path.is_file() else None


def reachable(path, seen):
    """Adds `path` and all files below src/ that it includes, directly or indirectly."""
    names = included_by(path)
    if path in seen or names is None:
        return
    seen.add(path)
    for name in names:
        reachable(ROOT / "src" / name, seen)


def stamp_of(source, arguments, version):
    """Path of the stamp file that marks this state of a source as clean, in any clone."""
    files = set()
    reachable(source, files)
    options = "\n".join(arguments).replace(str(ROOT), ".")
    digest = hashlib.sha256(f"{version}\n{options}\n".encode())
    settings = [folder / ".clang-tidy" for folder in source.parents if folder.is_relative_to(ROOT)]
    for path in [*filter(pathlib.Path.is_file, settings), *sorted(SHIMS.iterdir()), *sorted(files)]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return STAMPS / digest.hexdigest()


def drop_old_stamps():
    oldest = time.time() - _STAMP_DAYS * 24 * 60 * 60
    for stamp in STAMPS.iterdir():
        if stamp.stat().st_mtime < oldest:
            stamp.unlink(missing_ok=True)


def sources_of_change(sources, changed):
    """Those of the sources that changed, and for each changed header one source that includes it.

    All of them if the settings changed: .clang-tidy, or the headers that stand in for the standard library's.
    """
    if any(path.name == ".clang-tidy" or SHIMS in path.parents for path in changed):
        return set(sources)
    chosen = {source for source in sources if source in changed}
    headers = {path for path in changed if path.suffix == ".h"}
    if not headers:
        return chosen
    includes = {}
    for source in sources:
        reachable(source, includes.setdefault(source, set()))
    for header in sorted(headers):
        readers = [source for source in sorted(sources) if header in includes[source]]
        own = header.with_suffix(".cpp")
        if readers and not any(reader in chosen for reader in readers):
            chosen.add(own if own in readers else readers[0])
    return chosen


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
    """Lines with an error in a file below `folder`, without notes that belong to errors elsewhere."""
    return [line for line in lines if _FINDING.match(line) and line.startswith(f"{folder}/")]


def run_alone(source, arguments, extra):
    return run(source, [*extra, str(source), "--", *arguments])


def run_together(group, arguments, extra):
    """Runs clang-tidy on a file that includes the sources. It lies in their folder, so the same .clang-tidy applies."""
    key = hashlib.sha256("\n".join(map(str, group)).encode()).hexdigest()
    real, overlay, name = GROUPS / f"{key}.cpp", GROUPS / f"{key}.json", group[0].parent / f"group-{key}.cpp"
    real.write_text("".join(f'#include "{source}"  // NOLINT\n' for source in group))
    overlay.write_text(json.dumps({"version": 0, "roots": [
        {"type": "file", "name": str(name), "external-contents": str(real)}]}))
    # A name in one source may hide a name in another. The compiler, which sees each source alone, checks -Wshadow.
    return run(name, [f"--vfsoverlay={overlay}", *extra, str(name), "--", *arguments, "-Wno-error"])


def check(group, arguments, extra):
    """{source: (findings, parse errors)} of sources that may be checked as one file."""
    if len(group) > 1:
        findings, unparsed = run_together(group, arguments, extra)
        if not findings and not errors_in(ROOT, unparsed):
            return {source: ([], unparsed if source == group[0] else []) for source in group}
    return {source: run_alone(source, arguments, extra) for source in group}


def sources_of(build):
    """{source: compiler command} of this project's sources, without tests."""
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {pathlib.Path(entry["file"]): entry["command"] for entry in entries}
    return {source: command for source, command in commands.items()
            if source.is_relative_to(ROOT / "src") and source.suffix == ".cpp"
            and not source.name.endswith("_test.cpp") and source.is_file()}


def wanted_of(sources, words):
    """Sources to check by the command line, and a phrase that describes them."""
    if words == ["--changed"]:
        base, reason = changed_files.base_of(ROOT)
        if not base:
            return set(sources), f"whole tree: {reason}"
        wanted = sources_of_change(sources, changed_files.changed_files(base, ROOT))
        return wanted, f"changed since {base[:9]}, {reason}"
    if words:
        return {pathlib.Path(name).resolve() for name in words} & set(sources), "as named"
    return set(sources), "whole tree"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    commands = sources_of(build)
    wanted, which = wanted_of(commands, sys.argv[2:])
    arguments = {source: tidy_groups.arguments_of(commands[source]) for source in wanted}
    for folder in (STAMPS, GROUPS):
        folder.mkdir(parents=True, exist_ok=True)
    todo = {}
    for source in sorted(wanted):
        stamp = stamp_of(source, arguments[source], version)
        if stamp.exists():
            stamp.touch()
        else:
            todo[source] = stamp
    print(f"tidy: {len(wanted)} of {len(commands)} sources ({which}), {len(wanted) - len(todo)} known to be clean",
          flush=True)
    extra = extra_arguments(version)
    tally = collections.Counter()
    groups = tidy_groups.groups_of(todo, {source: commands[source] for source in todo}, _LARGEST_GROUP)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(check, group, arguments[group[0]], extra)
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
    drop_old_stamps()
    print(f"tidy: {len(todo)} files checked in {len(groups)} groups, {tally['failures']} with findings, "
          f"{tally['unparsed']} not parsed in full")
    return 1 if tally["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
