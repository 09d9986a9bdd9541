#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Lists the files that a change touches, for checks of only these files.

  tools/changed_files.py      prints the base and the files

The base of a change is, in this order:
  1. the commit that ROENTGEN_BASE names;
  2. the commit where the branch left origin/main (or main, without a remote);
  3. on main itself, the first parent of a merge;
  4. on main without a merge, the last commit that is a day older than HEAD, because the start of a change is unknown.
Without any of these (no git, or a clone without history) everything counts as changed.
"""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
UPSTREAMS = ("origin/main", "origin/HEAD", "main")
_LANDING_S = 24 * 60 * 60


def git(root, *words):
    """Output of a git command; an empty string if it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def base_of(root=ROOT):
    """(commit, reason) of the base, or ("", reason) if all files count as changed."""
    head = git(root, "rev-parse", "HEAD")
    if not head:
        return "", "no git history"
    named = os.environ.get("ROENTGEN_BASE", "")
    if named:
        commit = git(root, "rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
        if not commit:
            raise SystemExit(f"[changed.base] ROENTGEN_BASE: expected a commit, got {named}; try origin/main")
        return commit, "ROENTGEN_BASE"
    for upstream in UPSTREAMS:
        commit = git(root, "merge-base", "HEAD", upstream)
        if commit and commit != head:
            return commit, f"where the branch left {upstream}"
    if git(root, "rev-parse", "--verify", "--quiet", "HEAD^2"):
        return git(root, "rev-parse", "HEAD^1"), "before the last merge"
    date = int(git(root, "show", "-s", "--format=%ct", "HEAD"))
    commit = git(root, "rev-list", "-1", f"--before={date - _LANDING_S}", "HEAD")
    return commit, "a day before the last commit" if commit else "no commit that is a day older"


def changed_files(base, root=ROOT):
    """Files in the working tree that differ from the base, including files that git does not track yet."""
    names = git(root, "diff", "--name-only", "--diff-filter=d", base).splitlines()
    names += git(root, "ls-files", "--others", "--exclude-standard").splitlines()
    return {root / name for name in names}


def main():
    base, reason = base_of()
    print(f"base: {base or 'none'} ({reason})")
    if base:
        print("\n".join(sorted(path.relative_to(ROOT).as_posix() for path in changed_files(base))))


if __name__ == "__main__":
    main()
