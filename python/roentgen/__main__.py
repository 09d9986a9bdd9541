# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""The program, in place of this process: `roentgen ...` and `python -m roentgen ...`."""
import os
import pathlib
import sys


def main():
    """Becomes the program, with the same arguments."""
    program = pathlib.Path(__file__).parent / "bin" / "roentgen"
    os.execv(program, ["roentgen", *sys.argv[1:]])


if __name__ == "__main__":
    main()
