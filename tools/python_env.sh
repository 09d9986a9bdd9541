#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Creates the virtual environment build/python, in which the Python package is built and tested. May be run repeatedly.
# Without the environment, the build omits the package and skips its tests, so a failure here is reported and ends with
# exit code 0.
set -euo pipefail
cd "$(dirname "$0")/.."

list=python/requirements.txt
environment=build/python
stamp=$environment/installed.txt
if cmp -s "$list" "$stamp"; then exit 0; fi

leave_out() {
  echo "setup: the Python package is left out: $1" >&2
  exit 0
}
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then leave_out "no Python 3.10"; fi
mkdir -p build
if ! python3 -m venv --clear "$environment" >/dev/null 2>&1; then leave_out "python3 -m venv fails (python3-venv)"; fi
pip=("$environment/bin/pip" install -q --no-compile --disable-pip-version-check)
if ! "${pip[@]}" -r "$list" 2>"$environment/pip.log"; then
  leave_out "pip could not install $list: $(tail -n 1 "$environment/pip.log")"
fi
cp "$list" "$stamp"
echo "setup: $environment holds what the Python package is built with"
