#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Draws docs/images/speed.svg from the table `Summary` of docs/results/speed.md.

  results_chart.py           write the picture
  results_chart.py --check   exit 1 if it differs from what the table gives
"""
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results/speed.md"
PICTURE = ROOT / "docs/images/speed.svg"
# Height of a row in px. Labels stand above their bars, so that the picture is narrow enough for a phone.
ROW_PX = 46
LEFT_PX = 8
UNIT_PX = 65
TOP_PX = 40


def summary_rows(text):
    """(metric, peer, ratio) of every row of the table below the heading `Summary`."""
    part = text.split("\n## Summary\n", 1)[1].split("\n## ", 1)[0]
    lines = [re.split(r"\s*\|\s*", line.strip("| ")) for line in part.splitlines() if line.startswith("|")]
    head, rows = lines[0], lines[2:]
    columns = [head.index(name) for name in ("metric", "peer", "ratio")]
    found = [tuple(row[column] for column in columns) for row in rows]
    return [(metric, peer, float(ratio)) for metric, peer, ratio in found]


def draw(rows):
    """Bar chart of ratios as an SVG picture, light and dark."""
    height = TOP_PX + ROW_PX * len(rows) + 28
    width = LEFT_PX + int(UNIT_PX * max(ratio for _, _, ratio in rows)) + 70
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
             ' font-family="sans-serif" font-size="14" role="img" aria-label="Speed of Roentgen divided by the speed of each peer">',
             "<style>text{fill:#222}.peer{fill:#667}.bar{fill:#2a6fbb}.one{stroke:#667}"
             "@media(prefers-color-scheme:dark){text{fill:#eee}.peer{fill:#aab}.bar{fill:#6aa9ea}}</style>",
             '<text x="8" y="20" font-size="16" font-weight="bold">Speed of Roentgen / speed of the peer</text>']
    one = LEFT_PX + UNIT_PX
    for row, (metric, peer, ratio) in enumerate(rows):
        y = TOP_PX + ROW_PX * row
        bar = UNIT_PX * ratio
        parts += [f'<text x="{LEFT_PX}" y="{y + 14}">{html.escape(metric)}, '
                  f'<tspan class="peer">{html.escape(peer)}</tspan></text>',
                  f'<rect class="bar" x="{LEFT_PX}" y="{y + 20}" width="{bar:.1f}" height="16" rx="2"/>',
                  f'<text x="{LEFT_PX + bar + 6:.1f}" y="{y + 33}">{ratio:.2f}x</text>']
        parts.append(f'<line class="one" x1="{one}" y1="{y + 18}" x2="{one}" y2="{y + 38}"/>')
    bottom = TOP_PX + ROW_PX * len(rows)
    parts += [f'<text class="peer" x="{LEFT_PX}" y="{bottom + 14}">| 1x: as fast as the peer</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def main():
    picture = draw(summary_rows(PAGE.read_text(encoding="utf-8")))
    if sys.argv[1:] != ["--check"]:
        PICTURE.write_text(picture, encoding="utf-8")
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture:
        print("docs/images/speed.svg: expected the rows of docs/results/speed.md; run tools/results_chart.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
