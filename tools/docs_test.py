# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of the pages: links lead to files, ctest commands fail if no test runs, README shows the quickstart's picture."""
import json
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def anchors(page):
    """Anchors that GitHub creates for the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).strip().lower().replace(" ", "-")
            for heading in headings}


class Docs(unittest.TestCase):
    def test_a_ctest_command_that_chooses_tests_fails_without_any(self):
        pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
        for page in pages:
            for command in re.findall(r"ctest [^`\n]*-[RL] [^`\n]*", page.read_text(encoding="utf-8")):
                self.assertIn("--no-tests=error", command, page)

    def test_links_lead_to_files_of_the_tree(self):
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
            for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
                if not target.startswith("https://"):
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")

    def test_a_link_that_shows_a_path_shows_its_own(self):
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]:
            for shown, target in re.findall(r"\[([\w./-]+\.(?:md|ipynb))\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
                path = ROOT / shown if shown.startswith("docs/") else page.parent / target
                self.assertEqual(path.resolve(), (page.parent / target).resolve(), f"{page}: {shown}")

    def test_anchors_of_links_are_headings(self):
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
            for target in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", page.read_text(encoding="utf-8")):
                path, anchor = target.split("#")
                if not target.startswith("https://"):
                    self.assertIn(anchor, anchors(page.parent / path if path else page), f"{page}: {target}")

    def test_pages_that_scripts_name_exist(self):
        listed = subprocess.run(["git", "ls-files", "--", ":!src", ":!*.md", ":!*.h", ":!*.cpp", ":!docs"], cwd=ROOT,
                                capture_output=True, text=True, check=True).stdout.splitlines()
        for name in listed:
            text = (ROOT / name).read_bytes().decode("utf-8", "replace")
            for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text):
                self.assertTrue((ROOT / page).exists(), f"{name}: {page}")

    def test_guides_and_results_open_with_a_command(self):
        for page in [*(ROOT / "docs/guide").glob("*.md"), *(ROOT / "docs/results").glob("*.md")]:
            self.assertRegex(page.read_text(encoding="utf-8"), r"\A# [^\n]+\n\n```", page)

    def test_the_site_has_every_page(self):
        listed = re.findall(r"^ +- (?:\w+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
        pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
        pages += [f"notebooks/{page.stem}.md" for page in (ROOT / "docs/notebooks").glob("*.ipynb")]  # tools/docs_hooks.py
        self.assertEqual(sorted(listed), sorted(pages), "nav of mkdocs.yml")

    def test_the_quickstart_leaves_the_picture_of_the_readme(self):
        shown = re.search(r"^shown=(\S+)$", (ROOT / "tools" / "quickstart.sh").read_text(), re.MULTILINE)
        self.assertIn(f"`{shown[1]}`", (ROOT / "README.md").read_text(encoding="utf-8"))

    def test_readme_has_at_most_600_words(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").split()), 600)

    def test_the_program_of_the_library_page_is_the_one_that_is_tested(self):
        shown = re.search(r"```cpp\n(.*?)```", (ROOT / "docs/guide/cpp.md").read_text(encoding="utf-8"), re.DOTALL)
        self.assertIn(shown[1], (ROOT / "tests/consumer/main.cpp").read_text(encoding="utf-8"))

    def test_notebooks_hold_outputs_of_cells_that_ran_and_little_else(self):
        for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
            self.assertLess(path.stat().st_size, 400_000, path)
            cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
            self.assertEqual([cell["execution_count"] for cell in cells], list(range(1, len(cells) + 1)), path)
            outputs = [output for cell in cells for output in cell["outputs"]]
            self.assertTrue(outputs, path)
            self.assertNotIn("error", [output["output_type"] for output in outputs], path)


if __name__ == "__main__":
    unittest.main()
