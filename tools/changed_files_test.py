# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of changed_files.py. Run by `make lint`."""
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import changed_files

HOUR_S = 60 * 60


class ChangedFiles(unittest.TestCase):
    """The base of a change, in histories of several kinds."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        environment = unittest.mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("ROENTGEN_BASE", None)

    def git(self, *words, date_s=0):
        date = f"{1_700_000_000 + date_s} +0000"
        settings = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": os.devnull,
                    "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(["git", "-C", str(self.root), "-c", "user.name=n", "-c", "user.email=e", *words],
                              check=True, capture_output=True, text=True, env=os.environ | settings)
        return done.stdout.strip()

    def commit(self, name, hours=0):
        """Commits a new file this many hours after the first commit. Returns the commit."""
        (self.root / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-m", name, date_s=hours * HOUR_S)
        return self.git("rev-parse", "HEAD")

    def start(self):
        self.git("init", "-b", "main")
        return self.commit("first")

    def names(self, base):
        return {path.name for path in changed_files.changed_files(base, self.root)}

    def test_without_git_there_is_no_base(self):
        self.assertEqual(changed_files.base_of(self.root), ("", "no git history"))

    def test_a_branch_counts_from_where_it_left_main(self):
        first = self.start()
        self.git("checkout", "-b", "change")
        self.commit("second")
        (self.root / "not_added").write_text("x")
        self.assertEqual(changed_files.base_of(self.root), (first, "where the branch left main"))
        self.assertEqual(self.names(first), {"second", "not_added"})

    def test_work_on_main_counts_from_its_remote(self):
        first = self.start()
        self.git("update-ref", "refs/remotes/origin/main", first)
        self.commit("second")
        self.assertEqual(changed_files.base_of(self.root), (first, "where the branch left origin/main"))

    def test_a_merge_on_main_counts_from_its_first_parent(self):
        self.start()
        self.git("checkout", "-b", "change")
        self.commit("of_the_branch")
        self.git("checkout", "main")
        before = self.commit("of_main")
        self.git("merge", "--no-ff", "-m", "merge", "change")
        self.assertEqual(changed_files.base_of(self.root), (before, "before the last merge"))
        self.assertEqual(self.names(before), {"of_the_branch"})

    def test_main_without_merges_counts_one_day(self):
        self.start()
        day_before = self.commit("second", hours=1)
        self.commit("third", hours=20)
        self.commit("fourth", hours=25)
        self.assertEqual(changed_files.base_of(self.root), (day_before, "a day before the last commit"))
        self.assertEqual(self.names(day_before), {"third", "fourth"})

    def test_a_history_of_hours_has_no_base(self):
        self.start()
        self.assertEqual(changed_files.base_of(self.root), ("", "no commit that is a day older"))

    def test_a_named_base_is_taken_or_refused(self):
        first = self.start()
        self.commit("second", hours=48)
        os.environ["ROENTGEN_BASE"] = "HEAD~1"
        self.assertEqual(changed_files.base_of(self.root), (first, "ROENTGEN_BASE"))
        os.environ["ROENTGEN_BASE"] = "nowhere"
        with self.assertRaisesRegex(SystemExit, r"\[changed.base\] ROENTGEN_BASE: expected a commit, got nowhere"):
            changed_files.base_of(self.root)


if __name__ == "__main__":
    unittest.main()
