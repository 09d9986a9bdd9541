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
# The same, with the signs of a conditional expression.
CHOICE = re.compile(r'"(?:[^"\\]|\\.)*"|::|[(){}\[\],?:]|[^"(){}\[\],?:]+')

# Words of code that say nothing about the value.
NO_HINT = {"std", "string", "string_view", "str", "to_string", "data", "format", "c_str", "concat", "quoted", "name",
           "value", "size", "i", "front", "back", "begin", "end", "substr", "get", "fmt", "empty", "e3", "c"}


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
    end = call.end() + bracket(code[call.end():]) + 1
    text, *values = arguments(code, call.end())
    values += ["value"] * text.count("{")
    made = re.sub(r"\{\w*(:[^{}]*)?\}", lambda _: f'" + ({values.pop(0)}) + "', text)
    return formatted(code[:call.start()] + made + code[end:])


def bracket(code):
    """Position of the first bracket that closes more than the code opens; the length of the code if there is none."""
    depth = 0
    for token in TOKEN.finditer(code):
        word = token[0]
        if depth == 0 and word in ")}]":
            return token.start()
        depth += (word in "({[") - (word in ")}]")
    return len(code)


def plurals(code):
    """Code in which counted(number, "image") becomes a sum, the number and "images", and plural() "images"."""
    call = re.search(r"\b(counted|plural)\(", code)
    if not call:
        return code
    number, *words = arguments(code, call.end())
    end = call.end() + bracket(code[call.end():]) + 1
    many = words[1] if len(words) > 1 else re.sub(r'"$', 's"', words[0])
    before = f'({number}) + " " + ' if call[1] == "counted" else ""
    return plurals(code[:call.start()] + before + many + code[end:])


def first_choices(code):
    """Code in which each `condition ? a : b` is replaced by `a`."""
    words = [token[0] for token in CHOICE.finditer(code)]
    if "?" not in words:
        return code
    at, depth, start = words.index("?"), 0, 0
    for i in range(at - 1, -1, -1):
        depth += (words[i] in ")}]") - (words[i] in "({[")
        if depth < 0 or (depth == 0 and words[i] == ","):
            start = i + 1
            break
    rest = words[at + 1:]
    depth, nested, colon, end = 0, 0, None, len(rest)
    for i, word in enumerate(rest):
        if depth == 0 and (word in ")}]" or word == ","):
            end = i
            break
        depth += (word in "({[") - (word in ")}]")
        nested += (depth == 0 and word == "?")
        if depth == 0 and word == ":":
            if nested == 0 and colon is None:
                colon = i
            nested -= 1
    return first_choices("".join(words[:start] + rest[:colon] + rest[end:]))


def shown(code):
    """Text of an argument as a user sees it: its string literals, with <name> for what is computed.

    Of two texts `is ? "a" : "b"`, it shows the first.
    """
    code = re.sub(r'\bfmt::join\((.*?), "[^"]*"\)', r"\1", code)
    code = first_choices(plurals(formatted(code)))
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


def with_constants(text):
    """Text of a source in which each constant such as kRemedy is replaced by its string, if the source defines it."""
    literals = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    for name, value in re.findall(r"\b(k[A-Z]\w*)(?:\[\])?\s*[={]\s*" + literals + r"\}?;", text):
        text = re.sub(rf"\b{name}\b(?!(?:\[\])?\s*[={{])", lambda _: " ".join(value.split("\n")), text)
    return text


def errors(root):
    """(place, text) of the error messages in src, composed as error_text() does. Skips those that are all computed."""
    for path in check_prose.sources(root):
        text = with_constants(path.read_text(encoding="utf-8"))
        for call in re.finditer(r"\berror_text\(", text) if "_test" not in path.stem else ():
            parts = [shown(part) for part in arguments(text, call.end())]
            is_fixed = any(re.search(r"\w", re.sub("<[^<>]*>", "", part)) for part in parts[1:])
            if len(parts) >= 4 and is_fixed:
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
