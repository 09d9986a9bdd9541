#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes the reference pages that are generated from the program's help texts.

  reference.py PROGRAM           write docs/reference/command_line.md and recipe_keys.md
  reference.py PROGRAM --check   exit 1 if a page differs from what the program says
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/reference"
NOTE = "<!-- Written by tools/reference.py: change the program, then run the script again. -->"
# Recipe sections whose keys another page explains in detail.
EXPLAINED = {
    "data": "Meaning of each key: [data](data.md).",
    "preprocess": "Meaning of each key: [data](data.md#from-a-file-to-the-networks-input).",
    "augment": "Meaning of each key: [data](data.md#from-a-file-to-the-networks-input).",
}


def says(program, *words):
    """Standard output of the program. Fails if the program fails."""
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout.rstrip()


def block(text, language=""):
    return f"```{language}\n{text}\n```\n"


def commands_of(help_text):
    """Names of the commands in the program's help."""
    part = help_text.split("Subcommands:\n", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^  ([a-z][a-z-]*) ", part, re.MULTILINE)


def command_line(program):
    """Page of all commands with their options."""
    top = says(program, "--help")
    names = commands_of(top)
    parts = [NOTE, "# Command line\n", block("roentgen COMMAND --help"),
             "Every command prints its part of this page with `--help`. `--json FILE` writes a command's result as JSON.\n",
             " · ".join(f"[{name}](#roentgen-{name})" for name in names) + "\n", block(top)]
    for name in names:
        parts += [f"## roentgen {name}\n", block(says(program, name, "--help"))]
        if name == "bench":
            parts += ["`roentgen bench CASE --help` shows the options of one case alone. The cases:\n",
                      block(says(program, "bench", "--list"))]
    return "\n".join(parts)


def recipe_keys(program):
    """Page of all keys of a recipe with their defaults."""
    parts = [NOTE, "# Recipe keys\n", block("roentgen train --keys"),
             "A recipe is a TOML file. A key that a recipe omits has the default below. `--set section.key=value` overrides one "
             "key.\nBuilt-in recipes to start from: `roentgen recipes`.\n"]
    for section in re.split(r"\n\s*\n", says(program, "train", "--keys")):
        name = re.match(r"\s*\[(\w+)\]", section)[1]
        parts += [f"## {name}\n", block(section.strip(), "toml")]
        if name in EXPLAINED:
            parts.append(EXPLAINED[name] + "\n")
    return "\n".join(parts)


def main():
    program, check = sys.argv[1], sys.argv[2:] == ["--check"]
    stale = []
    for name, text in (("command_line.md", command_line(program)), ("recipe_keys.md", recipe_keys(program))):
        page = FOLDER / name
        if check:
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                stale.append(f"docs/reference/{name}")
        else:
            page.write_text(text, encoding="utf-8")
    if stale:
        print(f"{', '.join(stale)}: expected what the program says; run tools/reference.py {program}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
