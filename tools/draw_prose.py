#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Draws comments and sentences for somebody to read who does not know the project, each with its place.

  draw_prose.py [NUMBER]     NUMBER (40) comments of src, and as many sentences of pages, help and errors

The draw depends on the commit alone. A reader marks what cannot be understood without reading around it.
"""
import random
import re
import subprocess
import sys

import check_prose

# Texts with fewer words than this are not drawn.
FEWEST_WORDS = 4
# Text of an error: the string literals of a call of error_text().
ERROR = re.compile(r'error_text\(((?:[^()";]|"(?:[^"\\]|\\.)*"|\([^()]*\))*)\)', re.DOTALL)


def comments(root):
    """(place, text) of every comment in src with at least FEWEST_WORDS words."""
    for path in check_prose.sources(root):
        for comment in check_prose.comments(path.read_text(encoding="utf-8")):
            if len(comment.text.split()) >= FEWEST_WORDS:
                yield f"{path.relative_to(root)}:{comment.line}", comment.text


def page_sentences(root):
    """(place, text) of the sentences of all pages except architecture decision records."""
    for path in check_prose.pages(root):
        if "adr" in path.parts:
            continue
        for prose in check_prose.page_prose(path.read_text(encoding="utf-8")):
            for sentence in re.split(r"(?<=[.!?])\s+", prose.text):
                if len(check_prose.words(sentence)) >= FEWEST_WORDS and not prose.is_cell:
                    yield f"{path.relative_to(root)}:{prose.line}", sentence


def help_lines(root):
    """(place, text) of every option on the reference page of commands."""
    page = root / "docs/reference/command_line.md"
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        option = re.match(r"  (--[\w-]+)\S* .*?  +(\S.*)", line)
        if option and len(option[2].split()) >= FEWEST_WORDS:
            yield f"{page.relative_to(root)}:{number}", f"{option[1]}: {option[2]}"


def errors(root):
    """(place, text) of the error messages in src."""
    for path in check_prose.sources(root):
        text = path.read_text(encoding="utf-8")
        for call in ERROR.finditer(text) if "_test" not in path.stem else ():
            parts = re.findall(r'"((?:[^"\\]|\\.)*)"', call[1])
            if len(parts) > 1:
                yield f"{path.relative_to(root)}:{text.count(chr(10), 0, call.start()) + 1}", " | ".join(parts)


def draw(items, number, seed):
    """`number` random items in random order, determined by the seed."""
    items = sorted(items)
    return random.Random(seed).sample(items, min(number, len(items)))


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    root = check_prose.ROOT
    seed = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"commit {seed}\n\n# Comments")
    for place, text in draw(comments(root), number, seed):
        print(f"{place}\n    {text}")
    print("\n# Pages, help and errors")
    thirds = [page_sentences(root), help_lines(root), errors(root)]
    sizes = [number - 2 * (number // 4), number // 4, number // 4]
    for found, size in zip(thirds, sizes):
        for place, text in draw(found, size, seed):
            print(f"{place}\n    {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
