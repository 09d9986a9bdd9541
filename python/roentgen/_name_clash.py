# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Refuses to run in an environment where PyPI's other project named roentgen shares this package's folder."""
import pathlib


def check(site):
    """Raises ImportError where `site`, the folder of installed packages, has the distribution roentgen.

    Its files and this package's lie in one folder. Each replaces some of the other's, when it is installed or removed.
    """
    for other in pathlib.Path(site).glob("roentgen-*.dist-info"):
        raise ImportError(
            f"[python.import] {site}: expected roentgen-xray alone, got {other.stem} in the same folder; "
            "try `pip uninstall roentgen roentgen-xray`, then install roentgen-xray again")


check(pathlib.Path(__file__).resolve().parent.parent)
