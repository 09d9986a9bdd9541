# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Refuses to run if another PyPI project, also named roentgen, is installed in the folder of this package."""
import pathlib


def check(site):
    """Raises ImportError if `site`, the folder of installed packages, contains the distribution roentgen.

    Both packages use the same folder. Installing or removing one of them replaces or deletes files of the other.
    """
    for other in pathlib.Path(site).glob("roentgen-*.dist-info"):
        raise ImportError(
            f"[python.import] {site}: expected only roentgen-xray, got {other.stem} in the same folder; "
            "try `pip uninstall roentgen roentgen-xray`, then install roentgen-xray again")


check(pathlib.Path(__file__).resolve().parent.parent)
