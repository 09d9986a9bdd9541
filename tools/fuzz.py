#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs libFuzzer on every target of tests/fuzz/target_list.h, or on the named targets, one after the other.

  tools/fuzz.py build/fuzz [TARGET ...]

FUZZ_SECONDS (60) is the time per target. New inputs are stored in build/fuzz/found, and inputs that make a target fail
in build/fuzz/crashes. Initial inputs are the files in tests/fuzz/corpus and, by symbolic link, small files of the test
data (ROENTGEN_TEST_DATA, else ../shared/data). Exits 1 if a target failed.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Size limit of initial inputs, because large inputs make every run slow.
LARGEST_SEED_BYTES = 1 << 14
MOST_SEEDS = 500
_TARGET = re.compile(r'^\s*X\((\w+),\s*"([^"]*)"\)', re.MULTILINE)


def targets(text):
    """Names of the fuzz targets in a target list, with the globs of their initial inputs."""
    return {name: globs.split() for name, globs in _TARGET.findall(text)}


def seeds(globs, data):
    """Small files of the test data, in a fixed order."""
    found = sorted({path for glob in globs for path in data.glob(glob) if path.is_file()})
    return [path for path in found if path.stat().st_size <= LARGEST_SEED_BYTES][:MOST_SEEDS]


def link_seeds(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for number, path in enumerate(files):
        (folder / f"{number:04}_{path.name}").symlink_to(path.resolve())


def last_figures(log):
    """Number of runs, coverage and corpus size in libFuzzer's last report."""
    lines = re.findall(r"#(\d+)\s+\w+\s+cov: (\d+) .*?corp: (\d+)", log)
    done = re.findall(r"stat::number_of_executed_units: (\d+)", log)
    runs, coverage, corpus = lines[-1] if lines else ("0", "0", "0")
    return done[-1] if done else runs, coverage, corpus


def run(build, name, files, seconds):
    """Fuzzes one target. Returns True if it did not fail."""
    crashes, found, linked = build / "crashes", build / "found" / name, build / "seeds" / name
    crashes.mkdir(exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    link_seeds(linked, files)
    log = build / f"{name}.log"
    command = ["nice", "-n", "10", str(build / "roentgen_fuzz"), f"-max_total_time={seconds}", "-rss_limit_mb=2048",
               "-malloc_limit_mb=1024", "-timeout=25", "-print_final_stats=1", "-close_fd_mask=1",
               f"-max_len={LARGEST_SEED_BYTES}", f"-artifact_prefix={crashes}/{name}-", str(found),
               str(ROOT / "tests" / "fuzz" / "corpus" / name), str(linked)]
    with log.open("wb") as out:
        code = subprocess.run(command, stdout=out, stderr=out, env=os.environ | {"ROENTGEN_FUZZ": name}).returncode
    runs, coverage, corpus = last_figures(log.read_text(errors="replace"))
    print(f"{name:<16} {runs:>10} runs  {coverage:>6} edges  {corpus:>5} inputs, {len(files)} of the test data"
          + ("" if code == 0 else f"  BROKEN: {log}"), flush=True)
    if code == 0:
        return True
    for path in sorted(crashes.glob(f"{name}-*")):
        print(f"  again: ROENTGEN_FUZZ={name} {build}/roentgen_fuzz {path}", flush=True)
    return False


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/fuzz").resolve()
    known = targets((ROOT / "tests" / "fuzz" / "target_list.h").read_text())
    names = sys.argv[2:] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"[tools.fuzz] {unknown[0]}: expected one of {', '.join(known)}, got another name; "
                 "try FUZZ_TARGETS= for all")
    data = pathlib.Path(os.environ.get("ROENTGEN_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not data.is_dir():
        print(f"no test data at {data}: beginning with the checked-in inputs alone", flush=True)
    seconds = os.environ.get("FUZZ_SECONDS", "60")
    held = [run(build, name, seeds(known[name], data), seconds) for name in names]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
