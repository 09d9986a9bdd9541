#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Draws random comments and sentences, each with file and line, for a reader who does not know the project.

  draw_prose.py [NUMBER]     NUMBER (40) comments of src, each with the code below it, and
                             as many sentences of pages, help texts and error messages

The draw depends only on the commit. The reader marks every text that cannot be understood by itself.
"""
import random
import re
import subprocess
import sys

import check_prose

# Texts with fewer words than this are not drawn.
FEWEST_WORDS = 4
# A string literal, a bracket, a comma, or anything else that separates the arguments of a call.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}\[\],]|[^"(){}\[\],]+')

# Words of code that say nothing about the value.
NO_HINT = {"std", "string", "string_view", "str", "to_string", "data", "format", "c_str", "concat", "quoted", "name",
           "value"}


def arguments(text, start):
    """Arguments of a call as code. They begin at `start`, after the opening bracket."""
    found, depth = [""], 0
    for token in TOKEN.finditer(text, start):
        word = token[0]
        if word in ")}]" and depth == 0:
            break
        depth += (word in "({[") - (word in ")}]")
        if word == "," and depth == 0:
            found.append("")
        else:
            found[-1] += word
    return [part.strip() for part in found]


def computed(code):
    """Placeholder for a computed value: the last name in the code, such as <folder> for `plan.folder`."""
    names = re.findall(r"[A-Za-z]\w*", re.sub(r"\b\w+(::\w+)*<[^<>]*>|[\w:]+\($", "", code.strip()))
    telling = [name for name in names if name not in NO_HINT and not re.match("k[A-Z]", name)] or names[-1:]
    return f"<{telling[-1]}>" if telling else ""


def formatted(code):
    """Code in which each fmt::format() is replaced by a sum of its text's pieces and its arguments."""
    call = re.search(r"\bfmt::format\(", code)
    if not call:
        return code
    depth, end = 1, call.end()
    for token in TOKEN.finditer(code, call.end()):
        depth += (token[0] in "({[") - (token[0] in ")}]")
        end = token.end()
        if depth == 0:
            break
    text, *values = arguments(code, call.end())
    values += ["value"] * text.count("{")
    made = re.sub(r"\{\w*(:[^{}]*)?\}", lambda _: f'" + {values.pop(0)} + "', text)
    return formatted(code[:call.start()] + made + code[end:])


def shown(code):
    """Text of an argument as a user sees it: its string literals, with <name> for what is computed.

    Of two texts `is ? "a" : "b"`, it shows the first.
    """
    code = re.sub(r'\bfmt::join\((\w+), "[^"]*"\)', r"\1", code)
    code = re.sub(r'[^()"?]*\?\s*((?:"(?:[^"\\]|\\.)*"|[\w.()>:-]+))\s*:\s*(?:"(?:[^"\\]|\\.)*"|[\w.()>:-]+)', r"\1",
                  formatted(code))
    pieces = re.split(r'"((?:[^"\\]|\\.)*)"', code)
    text = "".join(piece if i % 2 else computed(piece) for i, piece in enumerate(pieces))
    return re.sub(r"\{\w*(:[^{}]*)?\}", "", text.replace("\\n", " ").replace('\\"', '"'))


def comments(root):
    """(place, text) of every comment in src with at least FEWEST_WORDS words, and the line of code it describes."""
    for path in check_prose.sources(root):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for comment in check_prose.comments(text):
            if len(comment.text.split()) >= FEWEST_WORDS:
                code = next((line.strip() for line in lines[comment.line - 1:] if not re.match(r"\s*(//|$)", line)), "")
                yield f"{path.relative_to(root)}:{comment.line}", f"{comment.text}\n      {code}"


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
        option = re.match(r"  (--[\w,-]+)\S* .*?  +(\S.*)", line)
        if option and len(option[2].split()) >= FEWEST_WORDS:
            yield f"{page.relative_to(root)}:{number}", f"{option[1]}: {option[2]}"


def errors(root):
    """(place, text) of the error messages in src, composed as error_text() does."""
    for path in check_prose.sources(root):
        text = path.read_text(encoding="utf-8")
        for call in re.finditer(r"\berror_text\(", text) if "_test" not in path.stem else ():
            parts = [shown(part) for part in arguments(text, call.end())]
            if len(parts) >= 4:
                remedy = f"; try {parts[4]}" if len(parts) > 4 else ""
                yield (f"{path.relative_to(root)}:{text.count(chr(10), 0, call.start()) + 1}",
                       f"[{parts[0]}] {parts[1]}: expected {parts[2]}, got {parts[3]}{remedy}")


def draw(items, number, seed):
    """`number` random items in random order, determined by the seed."""
    items = sorted(items)
    return random.Random(seed).sample(items, min(number, len(items)))


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    root = check_prose.ROOT
    head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    seed = head.stdout.strip()
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
