# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Replaces this process by the command line program: `roentgen ...` and `python -m roentgen ...`."""
import os
import pathlib
import sys


def main():
    """Executes the program with the same arguments."""
    program = pathlib.Path(__file__).parent / "bin" / "roentgen"
    os.execv(program, ["roentgen", *sys.argv[1:]])


if __name__ == "__main__":
    main()
