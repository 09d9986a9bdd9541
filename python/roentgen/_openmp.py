# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Loads _native with a bound on how long idle compute threads spin, as the program starts with.

libgomp spins for milliseconds by default, which takes the cores from other processes and, once they take them back,
from the thread that all wait for. It reads the bound once, when it is loaded; a wheel brings a libgomp of its own, so
other packages keep theirs. A bound or a policy that the user sets takes precedence."""
import os

_SPIN_ITERATIONS = "1000"  # runtime::kSpinIterations

if os.environ.keys() & {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}:
    from roentgen import _native  # noqa: F401
else:
    os.environ["GOMP_SPINCOUNT"] = _SPIN_ITERATIONS
    try:
        from roentgen import _native  # noqa: F401
    finally:
        del os.environ["GOMP_SPINCOUNT"]
