# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of the scripts in tools/peers: requirements.txt lists their packages, and their errors have one line."""
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent / "peers"
# Packages whose name differs from that of their module.
PACKAGES = {"PIL": "pillow", "cv2": "opencv-python-headless", "nvidia": "nvidia-dali-cuda120", "sklearn": "scikit-learn",
            "tensorflow": "tensorflow-cpu"}
LIBRARIES = ("bench_peer.py", "graph_torch.py", "parity_formula.py", "one_line_errors.py")


def imports_of(path):
    """Modules that a script imports, in the order of its lines."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, node.module))
    return [name.split(".")[0] for _, name in sorted(found)]


class Peers(unittest.TestCase):
    def run_script(self, name, *arguments, **variables):
        """Runs a script in a Python without packages."""
        return subprocess.run([sys.executable, "-S", "-E", FOLDER / name, *arguments], capture_output=True, text=True,
                              check=False, env={"PATH": os.environ["PATH"], **variables})

    def assert_one_line(self, run, *words):
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertRegex(run.stderr, r"^\[peers\.\w+\] .*: expected .*, got .*; try .*")
        for word in words:
            self.assertIn(word, run.stderr)

    def test_packages_are_listed(self):
        text = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
        listed = {re.split(r"[ ;=<>#]", line)[0] for line in text.splitlines()}
        own = {path.stem for path in FOLDER.parent.rglob("*.py")} | {"roentgen"}
        for path in FOLDER.glob("*.py"):
            for module in imports_of(path):
                if module not in sys.stdlib_module_names and module not in own:
                    self.assertIn(PACKAGES.get(module, module), listed, path.name)

    def test_every_script_begins_with_one_line_errors(self):
        for path in FOLDER.glob("*.py"):
            if path.name not in LIBRARIES:
                self.assertEqual(imports_of(path)[0], "one_line_errors", path.name)

    def test_a_package_that_is_not_installed_is_named(self):
        self.assert_one_line(self.run_script("check_onnx.py"), "numpy: expected the Python package", "requirements.txt")

    def test_a_file_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "own.py"
            script.write_text(f"import sys\nsys.path.insert(0, {str(FOLDER)!r})\nimport one_line_errors\n"
                              "open(sys.argv[1])\n")
            self.assert_one_line(self.run_script(script), "arguments: expected", "got none")
            self.assert_one_line(self.run_script(script, "/none.csv"), "/none.csv: expected a file", "No such file")

    def test_the_traceback_is_there_for_who_asks(self):
        run = self.run_script("check_onnx.py", PEERS_TRACEBACK="1")
        self.assertIn("Traceback", run.stderr)


if __name__ == "__main__":
    unittest.main()
