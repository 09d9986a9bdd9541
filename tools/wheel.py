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
import re
import shutil
import subprocess
import sys
import zipfile

import bundle

NOTICES = "LICENSE.third-party"
LIBRARIES = "roentgen_xray.libs/"  # folder that auditwheel creates in a wheel


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, **options)


def stage(build, folder, libraries):
    """Package as it is installed, with its metadata."""
    run("cmake", "--install", build, "--component", "python", "--prefix", folder, "--strip")
    for file in (bundle.SOURCE / "python" / "roentgen").iterdir():
        if file.is_file():
            shutil.copy(file, folder / "roentgen")
    (folder / "python").mkdir()
    for name in ("pyproject.toml", "python/README.md", "LICENSE"):
        shutil.copy(bundle.SOURCE / name, folder / name)
    parts = [*bundle.components(libraries), *bundle.module_headers()]
    (folder / NOTICES).write_text(bundle.notices(parts), encoding="utf-8")


def pack(folder, out):
    """Wheel with only the staged files."""
    run(bundle.TOOLS / "pip", "-q", "--disable-pip-version-check", "wheel", folder, "--no-deps", "--no-build-isolation",
        "-w", out, "-C", "wheel.cmake=false", "-C", "wheel.platlib=true", "-C", "wheel.packages=roentgen")
    return next(out.glob("*.whl"))


def check_libraries(wheel, libraries):
    """Fails unless the wheel contains exactly the libraries for which it has notices. auditwheel adds a hash to their
    names."""
    names = zipfile.ZipFile(wheel).namelist()
    held = {re.sub(r"-[0-9a-f]{8}(?=\.so)", "", name.removeprefix(LIBRARIES)) for name in names
            if name.startswith(LIBRARIES) and name != LIBRARIES}
    expected = {path.name for path in libraries.values()}
    if held != expected:
        bundle.fail(f"{wheel.name}: expected the linked libraries, got others: {sorted(held ^ expected)}")


def main(build, out):
    work = out / "work"
    libraries = bundle.linked_of_wheel(build)
    shutil.rmtree(work, ignore_errors=True)
    stage(build, work / "stage", libraries)
    plain = pack(work / "stage", work / "plain")
    for old in out.glob("*.whl"):
        old.unlink()
    environment = {**os.environ, "PATH": f"{bundle.TOOLS}:{os.environ['PATH']}"}
    run(bundle.TOOLS / "auditwheel", "repair", plain, "-w", out, "--strip", env=environment, stderr=subprocess.DEVNULL)
    wheel = next(out.glob("*.whl"))
    check_libraries(wheel, libraries)
    shutil.rmtree(work)
    return wheel


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
