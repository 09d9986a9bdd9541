#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares results of the program with those of commit a569795: pixels, batches, splits, tables, weights, fields.

    tests/frozen/frozen.py check  --program build/release/roentgen [CASE ...]
    tests/frozen/frozen.py record --program PROGRAM_OF_A569795     [CASE ...]

Each case is a flat table of keys and values in expected/CASE.json; None means that this machine cannot tell it.
These files are never edited: every difference from them has a line in CHANGES.md with its reason. Exit codes: 0 if there
are no other differences, 1 if there are, 77 if nothing could be tested.
"""
import argparse
import fnmatch
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import batches  # noqa: E402  (siblings, found by the line above)
import fields  # noqa: E402
import lab  # noqa: E402
import real  # noqa: E402
import scores  # noqa: E402
import surface  # noqa: E402
import training  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
CASES = {
    "surface": surface.surface,
    "fields": fields.fields,
    "batches": batches.batches,
    "splits": batches.splits,
    "scores": scores.scores,
    "training_avx2": training.training_avx2,
    "training": training.training,
    "resume_avx2": training.resume_avx2,
    "resume": training.resume,
    "real_pixels": real.pixels,
    "real_splits": real.splits,
    "real_scores": real.scores,
}
# `- case | key or pattern | added, removed or = VALUE | why`
LINE = re.compile(r"^- (?P<case>\w+) \| `(?P<key>[^`]+)` \| (?P<now>added|removed|changed|= `[^`]*`) \| (?P<why>\S.*)$")


class Change:
    """One line of CHANGES.md: the difference that it allows."""

    def __init__(self, case, key, now):
        self.case, self.key, self.now = case, key, now
        self.is_used = False

    def allows(self, key, before, after):
        if not fnmatch.fnmatchcase(key, re.sub(r"\[", "[[]", self.key)):
            return False
        if before is None or after is None:
            kind = "added" if before is None else "removed"
            return self.now == kind
        if self.now == "changed":
            return True
        return self.now == "= `" + text_of(after) + "`"


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value)


def read_changes(path):
    changes = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("- "):
            continue
        found = LINE.match(line)
        if not found:
            raise lab.Failure(f"{path.name}:{number}: expected `- case | `key` | added, removed, changed or = `VALUE` | "
                              f"why`, got {line!r}")
        changes.append(Change(found["case"], found["key"], found["now"]))
    return changes


def is_close(before, after):
    """True if two values are equal, or differ by at most the bound if stored as [value, bound]."""
    return (isinstance(before, list) and isinstance(after, list) and len(before) == 2 and len(after) == 2
            and abs(before[0] - after[0]) <= before[1])


def differences(case, before, after, changes):
    """Lines about differences that are not in CHANGES.md, and about lines of CHANGES.md without a difference."""
    own = [change for change in changes if change.case == case]
    lines = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old == new or is_close(old, new) or (key in after and new is None):
            continue
        allowed = [change for change in own if change.allows(key, old, new)]
        for change in allowed:
            change.is_used = True
        if not allowed:
            lines.append(f"{case}: {key}: was {text_of(old)}, is {text_of(new)}")
    lines += [f"{case}: CHANGES.md names `{change.key}` ({change.now}), which does not differ so"
              for change in own if not change.is_used]
    return lines


def run_case(name, options):
    with tempfile.TemporaryDirectory(prefix="roentgen-frozen-") as folder:
        return CASES[name](lab.Lab(pathlib.Path(options.program).resolve(), pathlib.Path(folder), options.data))


def record(name, options):
    table = run_case(name, options)
    if None in table.values():
        raise lab.Failure("expected a machine that can tell every value, got one that cannot")
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(table[key])}" for key in sorted(table))
    (FOLDER / "expected" / f"{name}.json").write_text("{\n" + lines + "\n}\n")
    print(f"{name}: {len(table)} values recorded")


def check(name, options):
    before = json.loads((FOLDER / "expected" / f"{name}.json").read_text())
    after = run_case(name, options)
    lines = differences(name, before, after, read_changes(FOLDER / "CHANGES.md"))
    for line in lines:
        print(line)
    untold = sum(value is None for value in after.values())
    if untold == len(after):
        raise lab.Nothing("this machine can tell none of its values")
    print(f"{name}: {len(before)} values, {untold} not comparable on this machine, {len(lines)} differ without a line in "
          "tests/frozen/CHANGES.md")
    return not lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["check", "record"])
    parser.add_argument("cases", nargs="*", help="all without any")
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", type=pathlib.Path, default=lab.real_data(), help="folder of real files")
    options = parser.parse_intermixed_args()
    results = []
    for name in options.cases or CASES:
        if name not in CASES:
            parser.error(f"{name}: expected one of {', '.join(CASES)}")
        try:
            results.append(record(name, options) if options.what == "record" else check(name, options))
        except lab.Nothing as reason:
            print(f"SKIPPED {name}: NOTHING TESTED: {reason}")
            results.append("skipped")
        except lab.Failure as reason:
            print(f"{name}: {reason}")
            results.append(False)
    if False in results:
        return 1
    return 77 if all(result == "skipped" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
