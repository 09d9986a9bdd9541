#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Packs the Python package of a build as a wheel that brings its libraries along, and prints its path.

  tools/wheel.py BUILD OUT    as build/release build/wheels

`pip install .` builds the package anew instead, with the libraries of this machine. What is needed is in build/python
(tools/python_env.sh).
"""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOOLS = SOURCE / "build" / "python" / "bin"


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, **options)


def stage(build, folder):
    """The package as it is installed, beside what describes it."""
    shutil.rmtree(folder, ignore_errors=True)
    run("cmake", "--install", build, "--component", "python", "--prefix", folder, "--strip")
    for file in (SOURCE / "python" / "roentgen").iterdir():
        if file.is_file():
            shutil.copy(file, folder / "roentgen")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(SOURCE / name, folder)


def pack(folder, out):
    """A wheel of the staged files alone."""
    run(TOOLS / "pip", "-q", "--disable-pip-version-check", "wheel", folder, "--no-deps", "--no-build-isolation", "-w",
        out, "-C", "wheel.cmake=false", "-C", "wheel.platlib=true", "-C", "wheel.packages=roentgen")
    return next(out.glob("*.whl"))


def main(build, out):
    out = pathlib.Path(out).resolve()
    work = out / "work"
    stage(build, work / "stage")
    shutil.rmtree(work / "plain", ignore_errors=True)
    plain = pack(work / "stage", work / "plain")
    for old in out.glob("*.whl"):
        old.unlink()
    environment = {**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"}
    run(TOOLS / "auditwheel", "repair", plain, "-w", out, "--strip", env=environment, stderr=subprocess.DEVNULL)
    print(next(out.glob("*.whl")))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
