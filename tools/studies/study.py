# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Shared by the studies: options, benchmarks as JSON, interleaved rounds, tables in Markdown, writing of results."""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = TOOLS.parent / "build" / "release" / "roentgen"
NAMES = {"resnet50": "ResNet-50", "densenet121": "DenseNet-121"}


def parser_of(doc, **defaults):
    """Parser of --program, --json and of options with these defaults; each option has the type of its default."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--json", type=pathlib.Path)
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default,
                            help=f"default: {default}")
    return parser


def write(options, record, text):
    """Writes the record to --json. Prints the text, or writes it to --markdown. Options that are not given are
    skipped."""
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    if getattr(options, "markdown", None):
        options.markdown.write_text(text)
    else:
        print(text)


def words_of(settings):
    """Converts options to a command line: {"batch": 16, "cold": True, "model": None} gives --batch 16 --cold."""
    words = []
    for name, value in settings.items():
        if value is not None and value is not False:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def run(command, allowed=None, ends=(0,)):
    """Output of a command that exits with a status in `ends`. Any other status ends the study, or returns None if the
    command's message contains `allowed`."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in ends:
        return done.stdout
    if allowed and allowed in done.stderr:
        return None
    lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
    sys.exit(f"{shlex.join(command)}: status {done.returncode}, {lines[-1]}")


def bench(program, case, allowed=None, **settings):
    """Result of `roentgen bench CASE` with these options. `allowed`: see run()."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        command = [program, "bench", case, *words_of(settings), "--json", result]
        return None if run(command, allowed) is None else json.loads(result.read_text())


def package_text(python):
    """Version and commit of the Roentgen package that an interpreter imports; also printed to standard error."""
    text = run([python, "-m", "roentgen", "--version"]).partition("\n")[0]
    print(f"{python} imports {text}", file=sys.stderr)
    return text


def interleaved(arms, rounds):
    """(round, arm) for every arm in each round, because machines drift: in order in even rounds, backwards in odd
    ones."""
    arms = list(arms)
    return [(index, arm) for index in range(rounds) for arm in (arms[::-1] if index % 2 else arms)]


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def cpu_text(result):
    """Description of the machine in a benchmark's result."""
    return f"{result['cpu']['model']}, {result['cpu']['affinity_cores']} cores"
