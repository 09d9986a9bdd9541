# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Commands, flags, recipe keys with their defaults, benchmark cases and exit codes."""
import re

FLAGS = re.compile(r"^  (?:-\w,)?(--[a-z0-9_-]+(?:,--[a-z0-9_-]+)*)(.*)$")


def commands_of(text):
    listed = text.split("Subcommands:")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+) ", listed, re.MULTILINE)


def flags_of(text):
    """{flag: True if it takes a value}. In the help, an upper-case word, a list of choices or a default then follows it.

    Flags of one kind may share a line: --a,--b NUMBER.
    """
    flags = {}
    for line in text.splitlines():
        found = FLAGS.match(line)
        for flag in found[1].split(",") if found else ():
            flags[flag] = "value" if re.match(r"[ =](?! )\S", found[2]) else "switch"
    return flags


def recipe_keys(text):
    """{recipe.section.key: default}; "none" where the key has no default."""
    table, section = {}, ""
    for line in text.splitlines():
        heading = re.match(r"^\[([a-z_]+)\]", line)
        section = heading[1] if heading else section
        found = re.match(r"^(# )?([a-z0-9_]+) = (.*?)(  # .*)?$", line)
        if found:
            table[f"recipe.{section}.{found[2]}"] = "none" if found[1] else found[3]
    return table


def exit_codes(lab):
    data = lab.synth("data", 60)
    recipe = lab.write("r.toml", "[train]\nepochs = 1\nbatch = 8\n[preprocess]\nsize = 32\n[model]\nname = \"resnet18\"\n"
                       "width = 8\n")
    train = ["train", "--recipe", recipe, "--data", data, "--out"]
    runs = {
        "done": ["train", "--keys"],
        "unknown command": ["nonsense"],
        "unknown flag": ["train", "--nonsense"],
        "no recipe": ["train", "--data", data, "--out", "x"],
        "unknown key": [*train, "x", "--set", "train.nonsense=1"],
        "no such data": ["inspect", "--data", "nowhere"],
        "no such checkpoint": ["eval", "--checkpoint", "nowhere", "--data", data],
        "stopped": [*train, "stopped", "--stop-after", "1"],
        "resumed": [*train, "stopped", "--resume"],
        "run exists": [*train, "stopped"],
        "overwritten": [*train, "stopped", "--overwrite", "--stop-after", "1"],
        "unknown benchmark": ["bench", "nonsense"],
        "folder not empty": ["synth", data],
    }
    return {f"exit.{what}": lab.run(*arguments).returncode for what, arguments in runs.items()}


def surface(lab):
    table = {}
    overview = lab.must("--help").stdout
    for command in commands_of(overview):
        table[f"command.{command}"] = "there"
        for flag, kind in flags_of(lab.must(command, "--help").stdout).items():
            table[f"flag.{command}.{flag}"] = kind
    table.update(recipe_keys(lab.must("train", "--keys").stdout))
    for case in re.findall(r"^([a-z._-]+)", lab.must("bench", "--list").stdout, re.MULTILINE):
        table[f"bench.{case}"] = "there"
    return {**table, **exit_codes(lab)}
