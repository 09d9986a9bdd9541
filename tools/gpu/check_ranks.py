#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Judges the results of tools/gpu/check_ranks.sh. Prints a table with a verdict for each check, also if results of other
checks are missing. Exits with 1 if a bound is exceeded or a result is missing.

  python3 tools/gpu/check_ranks.py OUT
"""
import json
import pathlib
import re
import statistics
import sys

# Largest cost of a step with NCCL and one rank, relative to the step without. A step that is faster by more than this
# cost was not measured well. Gradients of 16 bits need about 200 more launches and 0.5 GB more traffic.
MOST_COST = {"nccl": 0.02, "bf16": 0.04, "wide": 0.02}
COSTS = {"nccl": "sent as f32", "bf16": "sent as bf16", "wide": "sent as f32, buckets of 25 MiB"}
# Largest difference of a loss between GPU and CPU. Both compute in f32 and differ by the order of sums, about 1e-5 in
# the first update; updates amplify it.
MOST_LOSS = 1e-3
# Largest difference of a loss between averages in f32 by NCCL and by the host. With two ranks, both add the same two
# values, but NCCL may multiply by 1/2 before it adds.
MOST_LOSS_NCCL = 1e-5
# Largest difference of a loss between gradients sent in 16 bits and in f32. Rounding changes a gradient by at most 2^-9
# (bf16) or 2^-12 (f16) of its value. On the emulated device, losses differ by 1e-5 and 1e-6.
MOST_LOSS_16_BITS = {"bf16": 1e-3, "f16": 1e-4}
# Longest time until a rank has ended after a signal to the other. --comm-timeout is 5 s; ending NCCL may take as long.
MOST_SECONDS = 12


class Missing(Exception):
    """A result that a check needs and that does not exist."""


def read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise Missing(f"no {path.name}" if path.name != "log.jsonl" else f"no run {path.parent.name}") from error


def rates(folder, way):
    """Images/s of each round with this way of averaging, by round."""
    paths = sorted(folder.glob(f"ranks_step_{way}_*.json"))
    return {path.stem.rsplit("_", 1)[1]: json.loads(read(path))["points"][0]["images_per_s"] for path in paths}


def cost_of_nccl(folder, way):
    """Median over rounds of the share by which a step with NCCL is longer than the step of the round without NCCL."""
    without, with_nccl = rates(folder, "auto"), rates(folder, way)
    rounds = without.keys() & with_nccl.keys()
    if not rounds:
        raise Missing(f"{len(without)} measurements without NCCL and {len(with_nccl)} with NCCL")
    return statistics.median(without[one] / with_nccl[one] for one in rounds) - 1


def losses(folder, run):
    """Losses of the updates in the log.jsonl of a run."""
    lines = [json.loads(line) for line in read(folder / f"ranks_{run}/log.jsonl").splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "step"]


def largest_difference(folder, left, right):
    """Largest difference of a loss between two runs, and the number of their updates."""
    a, b = losses(folder, left), losses(folder, right)
    if not a or len(a) != len(b):
        raise Missing(f"{len(a)} updates of {left} and {len(b)} of {right}")
    return max(abs(x - y) for x, y in zip(a, b)), len(a)


def tensors(folder, run):
    """Bytes of each tensor in the last state of a run, a file of the form safetensors."""
    data = read(folder / f"ranks_{run}/checkpoints/resume.safetensors")
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    return {name: data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]]
            for name, entry in header.items() if name != "__metadata__"}


def check_cost(folder, way):
    cost = cost_of_nccl(folder, way)
    return f"{cost:+.2%}", abs(cost) <= MOST_COST[way]


def check_losses(folder, left, right, most):
    difference, updates = largest_difference(folder, left, right)
    return f"{updates} updates, {difference:.1e} apart", difference <= most


def check_rounding(folder, way, wire):
    """Losses must differ a little, because otherwise nothing was rounded."""
    difference, updates = largest_difference(folder, f"{way}_f32", f"{way}_{wire}")
    return f"{updates} updates, {difference:.1e} apart", 0 < difference <= MOST_LOSS_16_BITS[wire]


def check_bits(folder, left, right):
    a, b = tensors(folder, left), tensors(folder, right)
    if not a or a.keys() != b.keys():
        raise Missing(f"{len(a)} tensors of {left} and {len(b)} of {right}")
    different = sum(a[name] != b[name] for name in a)
    return f"{different} of {len(a)} tensors differ", different == 0


def check_strike(folder, signal):
    """Whether the run ended with an error soon after rank 1 got a signal, and rank 0 named rank 1."""
    log = read(folder / f"ranks_strike_{signal}.log").decode(errors="replace")
    ended = re.search(r"^strike: exit code (\d+), (\d+) s after", log, re.MULTILINE)
    if not ended:
        raise Missing(f"no end of the run in ranks_strike_{signal}.log")
    code, seconds = map(int, ended.groups())
    is_named = "no sign of rank 1 (" in log
    return (f"exit code {code} after {seconds} s, {'named' if is_named else 'NOT named'}",
            code != 0 and seconds <= MOST_SECONDS and is_named)


def checks(folder):
    """Each check: its name, the bound as text, and a function that returns the result as text and whether it passes."""
    for wire in ("f32", "bf16", "f16"):
        yield (f"losses of two ranks on one GPU, {wire}, by NCCL and by the host", f"{MOST_LOSS_NCCL:.0e}" if wire == "f32" else "0",
               lambda wire=wire: check_losses(folder, f"nccl_{wire}", f"exchange_{wire}",
                                              MOST_LOSS_NCCL if wire == "f32" else 0))
    for wire in MOST_LOSS_16_BITS:
        yield (f"weights of two ranks on one GPU, {wire}, by NCCL and by the host", "same bits",
               lambda wire=wire: check_bits(folder, f"nccl_{wire}", f"exchange_{wire}"))
    for wire, most in MOST_LOSS_16_BITS.items():
        yield (f"losses of two ranks on one GPU by NCCL, {wire} and f32", f"{most:.0e}, not 0",
               lambda wire=wire: check_rounding(folder, "nccl", wire))
    for signal, word in (("KILL", "killed"), ("STOP", "stopped")):
        yield (f"rank 1 of two by NCCL is {word}", f"an error that names it, {MOST_SECONDS} s",
               lambda signal=signal: check_strike(folder, signal))
    yield ("losses of two ranks, on one GPU and on the CPU", f"{MOST_LOSS:.0e}",
           lambda: check_losses(folder, "cpu", "exchange_f32", MOST_LOSS))
    for way, text in COSTS.items():
        yield f"cost of NCCL, one rank, {text}", f"{MOST_COST[way]:.0%}", lambda way=way: check_cost(folder, way)
    if (folder / "ranks_one_f32").exists():
        for wire, most in MOST_LOSS_16_BITS.items():
            yield (f"losses of one rank by NCCL, {wire} and f32", f"{most:.0e}, not 0",
                   lambda wire=wire: check_rounding(folder, "one", wire))


def main(folder):
    failures = 0
    versions = {found for path in folder.glob("ranks_train_nccl_*.log")
                for found in re.findall(r"averaged by (.+?), sent as", path.read_text(errors="replace"))}
    print(f"Averaged by {', '.join(sorted(versions)) or 'an unknown library'}.\n")
    print("| check | result | bound | verdict |\n|---|---|---|---|")
    for name, bound, judge in checks(folder):
        try:
            result, is_good = judge()
            verdict = "pass" if is_good else "FAIL"
        except Missing as missing:
            result, is_good, verdict = str(missing), False, "MISSING"
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:  # of a damaged file
            result, is_good, verdict = f"{type(error).__name__}: {error}".replace("\n", " "), False, "MISSING"
        failures += not is_good
        print(f"| {name} | {result} | {bound} | {verdict} |")
    if failures:
        print(f"\n{failures} checks failed or had no results.")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
