#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Makes a screenshot of a page of roentgen report in a browser, for inspection. Needs chromium; not part of make test:
#   tools/peers/report_screenshot.sh report.html report.png [HEIGHT_PX [WIDTH_PX]]
set -euo pipefail
page=$(realpath "$1")
picture=$(realpath "$2")
height=${3:-3600}
width=${4:-1060}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "SKIPPED: no chromium; apt-get install chromium" >&2
  exit 77
fi
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
  --host-resolver-rules="MAP * ~NOTFOUND" --window-size="$width,$height" --screenshot="$picture" "file://$page"
