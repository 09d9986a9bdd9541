# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of the messages on a machine that lacks something: from setup.sh, and from CMake for a oneDNN that does not fit. Run by `make lint`."""
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(fit NONE)
list(APPEND CMAKE_MODULE_PATH {root}/cmake)
find_package(Dnnl REQUIRED)
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_setup(self, *words, path=None, **variables):
        environment = {"PATH": str(path)} if path else {**os.environ, **variables}
        return subprocess.run([shutil.which("bash"), ROOT / "tools/setup.sh", *words], capture_output=True, text=True,
                              check=False, cwd=ROOT, env=environment)

    def test_another_option_is_refused(self):
        ended = self.run_setup("--most")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("[setup.options] --most: expected --minimal, --build, --fuzz, --docs, --schedulers, --all, --prefix DIR or nothing", ended.stderr)

    def test_without_apt_says_what_to_install(self):
        (self.folder / "cat").symlink_to(shutil.which("cat"))
        ended = self.run_setup(path=self.folder)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("CMake >= 3.25", ended.stderr)
        self.assertIn("oneDNN 2.6", ended.stderr)

    def test_a_prefix_without_a_folder_is_refused(self):
        for words in (("--prefix",), ("--prefix", ""), ("--prefix", "a", "b")):
            ended = self.run_setup(*words)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("[setup.options] --prefix: expected a folder", ended.stderr)
            self.assertEqual(ended.stderr.count("\n"), 1)

    def test_a_prefix_without_a_tarball_says_the_ways(self):
        ended = self.run_setup("--prefix", f"{self.folder}/r", ROENTGEN_PACKAGES=str(self.folder))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        ways = [line.strip()[:2] for line in ended.stdout.splitlines() if line.startswith("  ") and line[2].isdigit()]
        self.assertEqual(ways, [f"{i}." for i in range(1, len(ways) + 1)])
        self.assertIn(f"-C {self.folder}/r --strip-components=1", ended.stdout)
        self.assertFalse((self.folder / "r").exists())

    def test_the_commands_of_a_folder_with_a_space_are_shell(self):
        ended = self.run_setup("--prefix", f"{self.folder}/my $HOME", ROENTGEN_PACKAGES=str(self.folder))
        command = next(line for line in ended.stdout.splitlines() if "mkdir -p" in line)
        said = subprocess.run(["bash", "-c", "mkdir() { printf '%s|' \"$@\"; }; tar() { :; }; " + command],
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, f"-p|{self.folder}/my $HOME|")

    def test_a_build_asks_for_no_test_tools(self):
        tool = self.folder / "dpkg-query"
        tool.write_text("#!/bin/sh\ncase $4 in libgtest-dev|openmpi-bin|ccache) echo;; *) echo installed;; esac\n")
        tool.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        ended = self.run_setup("--prefix", f"{self.folder}/r", ROENTGEN_PACKAGES=str(self.folder), PATH=path)
        self.assertIn("3. built here; all packages that it takes are installed", ended.stdout)
        self.assertIn("-DRG_TESTS=OFF", ended.stdout)
        ended = self.run_setup("--build", PATH=path)
        self.assertRegex(ended.stdout, r"\Asetup: all \d+ packages are installed\n\Z")

    def make_tarball(self, text):
        program = self.folder / "roentgen-1" / "bin" / "roentgen"
        program.parent.mkdir(parents=True)
        program.write_text(text)
        program.chmod(0o755)
        with tarfile.open(self.folder / "roentgen-1-linux-x86_64-glibc2.34.tar.gz", "w:gz") as archive:
            archive.add(program.parent.parent, arcname="roentgen-1")

    def test_a_prefix_gets_the_tarball_that_was_made(self):
        self.make_tarball("#!/bin/sh\necho roentgen 1\n")
        ended = self.run_setup("--prefix", f"{self.folder}/r", ROENTGEN_PACKAGES=str(self.folder))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn(f"{self.folder}/r/bin/roentgen, roentgen 1\n", ended.stdout)

    def test_a_program_that_does_not_start_is_told_in_a_line(self):
        self.make_tarball("#!/bin/sh\necho 'libc.so.6: version GLIBC_2.34 not found' >&2\nexit 1\n")
        ended = self.run_setup("--prefix", f"{self.folder}/r", ROENTGEN_PACKAGES=str(self.folder))
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr.count("\n"), 1)
        self.assertIn("expected a machine with glibc 2.34 and the C++ library of GCC 12", ended.stderr)
        self.assertIn("GLIBC_2.34 not found", ended.stderr)

    def configure(self, version):
        """CMake's message about a oneDNN of this version, in one line."""
        header = self.folder / "oneapi/dnnl/dnnl_version.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        names = ("MAJOR", "MINOR", "PATCH")
        header.write_text("".join(f"#define DNNL_VERSION_{n} {v}\n" for n, v in zip(names, version.split("."))))
        (self.folder / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT))
        ended = subprocess.run(
            ["cmake", "-S", self.folder, "-B", self.folder / "build", f"-DDNNL_INCLUDE_DIR={self.folder}",
             f"-DDNNL_LIBRARY={self.folder}/libdnnl.so"], capture_output=True, text=True, check=False)
        return ended.returncode, " ".join(ended.stderr.split())

    def test_another_onednn_is_refused(self):
        for version in ("2.5.9", "3.0.0", "3.1.1"):
            code, text = self.configure(version)
            self.assertNotEqual(code, 0, version)
            self.assertIn(f"expected oneDNN of at least 2.6 and below 3, got {version}", text)

    def test_a_onednn_that_fits_is_taken(self):
        for version in ("2.6.0", "2.7.5"):
            self.assertEqual(self.configure(version), (0, ""), version)


if __name__ == "__main__":
    unittest.main()
