# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of the release workflow: its commands exist, it uploads the files that they write, and all files use the same
name of the wheel. Run by `make lint`."""
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "roentgen-xray"  # of the distribution


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Workflow(unittest.TestCase):
    def setUp(self):
        self.text = text_of(".github/workflows/release.yml")

    def test_runs_scripts_and_targets_that_exist(self):
        scripts = re.findall(r"^ *(?:- )?run: (\.?/?[\w.-]+/[\w./-]+)", self.text, re.MULTILINE)
        self.assertEqual(scripts, [".ci/run"])
        for script in scripts:
            self.assertTrue(os.access(ROOT / script, os.X_OK), script)
        targets = re.findall(r"\bmake ([a-z][\w-]*)$", self.text, re.MULTILINE)
        self.assertTrue(targets)
        for target in targets:
            self.assertRegex(text_of("Makefile"), rf"(?m)^{target}:")

    def test_reads_the_version_that_the_project_has(self):
        file, pattern = re.search(r"sed -nE 's/(.*?)/\\1/p' (\S+)\)", self.text).group(2, 1)
        self.assertTrue(re.findall(pattern, text_of(file), re.MULTILINE))

    def test_uploads_every_kind_of_file_that_make_packages_leaves(self):
        uploaded = set(re.findall(r"^ +build/packages/(\S+)$", self.text, re.MULTILINE))
        summed = re.search(r"cd build/packages && sha256sum (.*) >(\S+)", text_of("Makefile"))
        self.assertEqual(uploaded, {*summed[1].split(), summed[2]})


class Name(unittest.TestCase):
    def test_project_and_libraries_folder(self):
        self.assertIn(f'\nname = "{NAME}"', text_of("pyproject.toml"))
        self.assertIn(f'\nLIBRARIES = "{NAME.replace("-", "_")}.libs/"', text_of("tools/wheel.py"))

    def test_no_page_installs_the_other_project(self):
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb"),
                 ROOT / "python/README.md", ROOT / "tools/setup.sh"]
        for page in pages:
            for line in page.read_text(encoding="utf-8").splitlines():
                self.assertNotRegex(line, r"pip3? install \S*\broentgen(?![\w-]|\.whl)(?!.*another project)", page)

    def test_the_description_has_no_link_that_is_broken_elsewhere(self):
        readme = re.search(r'^readme = "(.*)"$', text_of("pyproject.toml"), re.MULTILINE)[1]
        for target in re.findall(r"\]\(([^)]*)\)", text_of(readme)):
            self.assertRegex(target, r"^https://", readme)


if __name__ == "__main__":
    unittest.main()
