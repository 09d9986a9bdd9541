#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Draws docs/images/speed.svg from the table `Summary` of docs/results/speed.md.

  results_chart.py           write the picture
  results_chart.py --check   exit 1 if it differs from what the table gives

tools/studies/experiments.py draws its charts with bars() and curves().
"""
import html
import math
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


STYLE = ("<style>text{fill:#222}.quiet{fill:#667}.grid{stroke:#8888}.measured{fill:#2a6fbb;stroke:#2a6fbb}"
         ".emulated{fill:#c9722b;stroke:#c9722b}.predicted{fill:#7a6fb0;stroke:#7a6fb0}.published{stroke:#222}"
         ".spread{stroke:#222}@media(prefers-color-scheme:dark){text{fill:#eee}.quiet{fill:#aab}"
         ".published,.spread{stroke:#eee}}</style>")
COLOURS = ("#1d6996", "#c9722b", "#38a6a5", "#7a6fb0", "#b3441e", "#888888", "#4c9a2a")


def opening(width, height, title):
    """First lines of a picture."""
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' font-family="sans-serif" font-size="14" role="img" aria-label="{html.escape(title)}">', STYLE,
            f'<text x="{LEFT_PX}" y="20" font-size="16" font-weight="bold">{html.escape(title)}</text>']


def bars(title, rows, unit):
    """Bar chart. rows: (label, value, low, high, origin, published value or None); the line on a bar is low to high, and
    the long mark is the published value. `origin` is the class of the bar: measured, emulated or predicted."""
    most = max(max(high, published or 0) for _, _, _, high, _, published in rows) or 1
    width, length = 640, 520
    height = TOP_PX + ROW_PX * len(rows) + 28
    parts = opening(width, height, title)
    for index, (label, value, low, high, origin, published) in enumerate(rows):
        y = TOP_PX + ROW_PX * index
        x = lambda number: LEFT_PX + length * number / most
        parts += [f'<text x="{LEFT_PX}" y="{y + 14}">{html.escape(label)}, <tspan class="quiet">{origin}</tspan></text>',
                  f'<rect class="bar {origin}" x="{LEFT_PX}" y="{y + 20}" width="{x(value) - LEFT_PX:.1f}" height="16"/>',
                  f'<path class="spread" d="M{x(low):.1f} {y + 28}H{x(high):.1f}"/>',
                  f'<text x="{x(max(high, published or 0)) + 6:.1f}" y="{y + 33}">{value:.3g} {html.escape(unit)}</text>']
        if published:
            parts.append(f'<path class="published" stroke-width="3" d="M{x(published):.1f} {y + 16}V{y + 40}"/>')
    has_mark = any(row[-1] for row in rows)
    note = "line: minimum to maximum of the rounds" + ("; upright mark: published by the source" if has_mark else "")
    return "\n".join([*parts, f'<text class="quiet" x="{LEFT_PX}" y="{height - 10}">{note}</text>', "</svg>"]) + "\n"


def ticks(most):
    """Round values from 0 to at most `most`, 4 to 10 of them."""
    step = 10 ** math.floor(math.log10(most / 4))
    step *= next(factor for factor in (5, 2, 1) if factor * step <= most / 4)
    return [step * index for index in range(int(most / step) + 1)]


def curves(title, series, labels):
    """Curves over a logarithmic x axis. series: {name: (origin, {x: value})}, origin as in bars(), or `published`: rings in
    the colour of the curve before them. labels: (of the x axis, of the y axis)."""
    points = [(x, y) for _, by_x in series.values() for x, y in by_x.items()]
    xs, most = sorted({x for x, _ in points}), max(y for _, y in points) * 1.05
    left, width, high, top = 56, 560, 280, 44
    span = math.log2(xs[-1] / xs[0]) or 1
    at_x, at_y = lambda x: left + width * math.log2(x / xs[0]) / span, lambda y: top + high * (1 - y / most)
    parts = opening(left + width + 24, top + high + 56 + 20 * len(series), title)
    for value in ticks(most):
        parts += [f'<path class="grid" d="M{left} {at_y(value):.1f}h{width}"/>',
                  f'<text class="quiet" x="{left - 6}" y="{at_y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>']
    shown = [x for x in xs if x == xs[0] or math.log2(x).is_integer()]
    parts += [f'<text class="quiet" x="{at_x(x):.1f}" y="{top + high + 18}" text-anchor="middle">{x}</text>' for x in shown]
    parts.append(f'<text class="quiet" x="{left}" y="{top + high + 38}">x: {labels[0]}, logarithmic; y: {labels[1]}</text>')
    curve = -1
    for index, (name, (origin, by_x)) in enumerate(series.items()):
        curve += origin != "published"
        colour = COLOURS[curve % len(COLOURS)]
        places = [(at_x(x), at_y(y)) for x, y in sorted(by_x.items())]
        y = top + high + 56 + 20 * index
        if origin == "published":
            places.append((left + 16, y - 4))
            parts += [f'<circle class="ring" cx="{a:.1f}" cy="{b:.1f}" r="5" fill="none" stroke="{colour}" stroke-width="2"/>'
                      for a, b in places]
        else:
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            parts += [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
                      f'<path d="M{left} {y - 4}h32" stroke="{colour}" stroke-width="2"/>']
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        parts.append(f'<text x="{left + 42}" y="{y}">{html.escape(name)}, <tspan class="quiet">{origin}</tspan></text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


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
