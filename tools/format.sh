#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Formats the repository's C++ files. With --check: fails if a file is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [ "${1:-}" = "--check" ]; then mode=(--dry-run -Werror); fi
find src tests -name '*.h' -o -name '*.cpp' -o -name '*.cu' | sort | xargs clang-format "${mode[@]}"
echo "format: $(find src tests -name '*.h' -o -name '*.cpp' -o -name '*.cu' | wc -l) files"
