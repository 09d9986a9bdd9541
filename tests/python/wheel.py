#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Installs the wheel in BUILD/wheels (tools/wheel.py) into a fresh virtual environment, and runs the package's tests there.

  tests/python/wheel.py BUILD [PYTHON]    PYTHON: another interpreter for the environment, from 3.10

Exit code 77 and a line where the build has no wheel or pip cannot install what the wheel needs.
"""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main(build, python):
    out = build / "wheels"
    wheel = next(out.glob("*.whl"), None)
    if wheel is None:
        skip("the build has no wheel (tools/wheel.py)")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    environment = out / f"venv-{pathlib.Path(python).name}"
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([python, "-m", "venv", environment], check=True)
    done = subprocess.run([environment / "bin" / "pip", "-q", "--disable-pip-version-check", "install", wheel, "pytest",
                           "pillow"], capture_output=True, text=True)
    if done.returncode != 0:
        skip(f"pip cannot install what the wheel needs: {done.stderr.strip().splitlines()[-1]}")
    # Removes variables that would select the package of this tree or come from the surrounding tests.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "PYTHON"))}
    tests = SOURCE / "python" / "tests"
    command = [environment / "bin" / "python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--rootdir", tests, tests]
    sys.exit(subprocess.run(command, env={**variables, "PATH": f"{environment / 'bin'}:{variables['PATH']}"},
                            cwd=out).returncode)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) == 3 else sys.executable)
