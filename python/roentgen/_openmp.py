# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Loads _native with the same limit on the spinning of idle compute threads as the command line program.

By default, idle threads of libgomp spin for milliseconds. They take cores from other processes, and from the thread for
which all threads wait. libgomp reads the limit once, when it is loaded; a wheel has its own libgomp, so other packages
keep their limit. A limit or policy that the user sets takes precedence."""
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
