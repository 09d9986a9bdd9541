# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""What the studies share: benchmarks of the program as JSON, interleaved rounds, tables in Markdown."""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = TOOLS.parent / "build" / "release" / "roentgen"


def words_of(settings):
    """Options of a command line: {"batch": 16, "cold": True, "model": None} is --batch 16 --cold."""
    words = []
    for name, value in settings.items():
        if value is not None and value is not False:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def run(command, allowed=None):
    """Runs a command. A failure ends the study, unless `allowed` is in what the command said; then the result is None."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    if allowed and allowed in done.stderr:
        return None
    lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
    sys.exit(f"{shlex.join(command)}: status {done.returncode}, {lines[-1]}")


def bench(program, case, allowed=None, **settings):
    """The result of `roentgen bench CASE` with these options. `allowed`: as run() has it."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        command = [program, "bench", case, *words_of(settings), "--json", result]
        return None if run(command, allowed) is None else json.loads(result.read_text())


def interleaved(arms, rounds):
    """(round, arm) for every arm in each round: in order in even rounds, backwards in odd ones, since machines drift."""
    arms = list(arms)
    return [(index, arm) for index in range(rounds) for arm in (arms[::-1] if index % 2 else arms)]


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def cpu_text(result):
    """The machine of a benchmark's result."""
    return f"{result['cpu']['model']}, {result['cpu']['affinity_cores']} cores"
