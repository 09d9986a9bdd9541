# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Makes the scripts of this folder print errors in one line, like roentgen. They import this module before all others.

PEERS_TRACEBACK=1 shows Python's own traceback instead.
"""
import os
import pathlib
import sys
import traceback

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt")


def one_line(name, what, expected, got, remedy):
    """Text of an error in the format that roentgen uses."""
    return " ".join(f"[peers.{name}] {what}: expected {expected}, got {got}; try {remedy}".split())


def line_of_program(command, ended):
    """Error line for a program that failed: the last line that it printed."""
    printed = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
    return one_line(own_name(), " ".join(map(str, command)), "exit code 0",
                    f"{ended.returncode}: {printed[-1] if printed else 'no output'}", "that command by itself")


def own_name():
    """Name of the running script."""
    return pathlib.Path(sys.argv[0]).stem


def line_of(name, kind, error, trace):
    """Error line for an exception in the script called `name`."""
    def text(*parts):
        return one_line(name, *parts)

    if isinstance(error, ModuleNotFoundError):
        return text(error.name, "the Python package", "none", f"{sys.executable} -m pip install -r {REQUIREMENTS}")
    frames = traceback.extract_tb(trace)
    if isinstance(error, (IndexError, ValueError)) and frames and "sys.argv" in (frames[-1].line or ""):
        return text("arguments", f"those that the first lines of {frames[-1].filename} show",
                    " ".join(sys.argv[1:]) or "none", "one of its examples")
    if isinstance(error, OSError) and error.filename is not None:
        return text(error.filename, "a file that can be used", error.strerror, "checking that path")
    return text("error", "none", f"{kind.__name__}: {error}", "PEERS_TRACEBACK=1, which shows where")


def show(kind, error, trace):
    """Replacement for sys.excepthook."""
    if issubclass(kind, KeyboardInterrupt) or os.environ.get("PEERS_TRACEBACK"):
        sys.__excepthook__(kind, error, trace)
        return
    print(line_of(own_name(), kind, error, trace), file=sys.stderr)


sys.excepthook = show
