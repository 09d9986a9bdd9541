# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Shared by the bench_*.py scripts: options, the time of steps, and the JSON that tools/studies/peers.py reads."""
import argparse
import json
import statistics
import time


def options_of(doc, **more):
    """Parses the common options and those in `more`, given with their defaults. False means a switch, a tuple means
    choices."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"batch": 16, "image": 224, "threads": 2, "warmup": 2, "steps": 5, **more}.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true")
        elif isinstance(default, tuple):
            parser.add_argument(f"--{name}", choices=default, default=default[0])
        else:
            parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def seconds_of(step, options):
    """Seconds of each step, without the warm-up steps."""
    times = []
    for _ in range(options.warmup + options.steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times[options.warmup:]


def median_speed(seconds, options):
    """Images/s by the median step."""
    return options.batch / statistics.median(seconds)


def input_speed(batches, shape, options):
    """Images/s over all batches of an iterator with this batch shape. An average over all, because prefetched batches
    arrive at once."""
    def step():
        found = tuple(next(batches).shape)
        if found != shape:
            raise SystemExit(f"expected batches of shape {shape}, got {found}")

    seconds = seconds_of(step, options)
    return options.batch * len(seconds) / sum(seconds)


def report(peer, figures, **more):
    """Prints the result as JSON. `peer`: program and version; `figures`: images/s by way."""
    print(json.dumps({"peer": peer, "figures": figures, **more}, indent=2))
