#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Builds the documentation site into build/docs-site with mkdocs-material, from the virtual environment build/docs.
# Checks every link. Exit code 77 and one line if pip cannot install mkdocs-material.
set -euo pipefail
cd "$(dirname "$0")/.."

list=docs/requirements.txt
environment=build/docs
stamp=$environment/installed.txt

skip() {
  echo "SKIPPED: no site: $1" >&2
  exit 77
}
if ! cmp -s "$list" "$stamp"; then
  mkdir -p build
  if ! python3 -m venv --clear "$environment" >/dev/null 2>&1; then skip "python3 -m venv fails (python3-venv)"; fi
  if ! "$environment/bin/pip" install -q --disable-pip-version-check -r "$list" 2>"$environment/pip.log"; then
    skip "pip could not install $list: $(tail -n 1 "$environment/pip.log")"
  fi
  cp "$list" "$stamp"
fi
# --quiet would hide the warnings from --strict.
if ! NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict >"$environment/site.log" 2>&1; then
  cat "$environment/site.log" >&2
  exit 1
fi
echo "build/docs-site/index.html: the documentation as a site"
