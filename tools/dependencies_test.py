# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks that all lists of build dependencies, and all copies of this project's version, agree. Run by `make lint`."""
import ast
import collections
import pathlib
import re
import subprocess
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent
Library = collections.namedtuple("Library", "cmake debian conda spack at_least static", defaults=("", True))
# cmake: name of the library in CMakeLists.txt. at_least: lowest version, if recipes state one. static: true if the
# static library of a build needs it.
LIBRARIES = [
    Library("Dnnl", "libdnnl-dev", "onednn", "onednn", "2.6"),
    Library("hwy", "libhwy-dev", "libhwy", "highway", "1"),
    Library("spdlog", "libspdlog-dev", "spdlog", "spdlog"),
    Library("fmt", "libfmt-dev", "fmt", "fmt"),
    Library("nlohmann_json", "nlohmann-json3-dev", "nlohmann_json", "nlohmann-json", static=False),
    Library("tomlplusplus", "libtomlplusplus-dev", "tomlplusplus", "tomlplusplus"),
    Library("CLI11", "libcli11-dev", "cli11", "cli11", static=False),
    Library("OpenSSL", "libssl-dev", "openssl", "openssl"),
    Library("isal", "libisal-dev", "isa-l", "isa-l"),
    Library("spng", "libspng-dev", "libspng", "libspng", "0.7"),
    Library("turbojpeg", "libturbojpeg0-dev", "libjpeg-turbo", "libjpeg-turbo"),
    Library("hwloc", "libhwloc-dev", "libhwloc", "hwloc", "2"),
    Library("xxhash", "libxxhash-dev", "xxhash", "xxhash"),
    Library("DCMTK", "libdcmtk-dev", "dcmtk", "dcmtk", "3.6"),
    Library("openjpeg", "libopenjp2-7-dev", "openjpeg", "openjpeg", "2.5"),
    Library("zlib", "zlib1g-dev", "zlib", "zlib-api"),
]
# Other packages in CMakeLists.txt: tools, tests, the GPU, and libraries for tools/peers.
OTHERS = {"PkgConfig", "Threads", "OpenMP", "GTest", "rapidcheck", "CUDAToolkit", "libpng"}
DEBIAN_TOOLS = {"g++", "cmake", "ninja-build", "pkg-config", "git", "dpkg-dev", "file", "python3", "python3-dev",
                "python3-venv", "libopenmpi-dev", "openmpi-bin", "libgtest-dev", "libgmock-dev", "librapidcheck-dev",
                "ccache"}
BUILD_TOOLS = {"c", "cxx", "cmake", "git", "ninja", "pkg-config", "pkgconfig", "onednn-cpu-omp"}
CONDA = "deploy/conda/roentgen/recipe.yaml"
SPACK = "deploy/spack/spack_repo/roentgen/packages/roentgen/package.py"


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Dependencies(unittest.TestCase):
    def test_cmake_looks_for_the_libraries_of_the_table(self):
        found = re.findall(r"(?:find_package|pkg_(?:check_modules|search_module))\((\w+)", text_of("CMakeLists.txt"))
        self.assertEqual(set(found) - OTHERS, {library.cmake for library in LIBRARIES})

    def test_setup_installs_them(self):
        lists = re.findall(r"^(?:packages|debian|tests)=\((.*?)\)", text_of("tools/setup.sh"), re.DOTALL | re.MULTILINE)
        words = " ".join(lists).split()
        self.assertEqual(set(words) - DEBIAN_TOOLS, {library.debian for library in LIBRARIES})

    def test_the_development_package_suggests_those_of_the_static_library(self):
        listed = re.search(r'DEVELOPMENT_PACKAGE_SUGGESTS "(.*?)"', text_of("cmake/packages.cmake"), re.DOTALL)[1]
        needed = sorted(library.debian for library in LIBRARIES if library.static)
        self.assertEqual(listed.replace("\\\n", "").split(", "), needed)

    def test_the_spack_package_depends_on_them(self):
        specs = re.findall(r'depends_on\("([\w-]+)(?:@([\d.]+):)?', text_of(SPACK))
        needed = {name: least for name, least in specs if name not in BUILD_TOOLS}
        self.assertEqual(needed, {library.spack: library.at_least for library in LIBRARIES})
        self.assertIn('"onednn@2.6:2 ', text_of(SPACK))

    def test_the_conda_recipe_depends_on_them(self):
        host = re.search(r"^  host:\n((?:    - .*\n)+)", text_of(CONDA), re.MULTILINE)[1]
        found = re.findall(r"- ([\w-]+)(?: >=([\d.]+))?", host)
        needed = {name: least for name, least in found if name not in BUILD_TOOLS}
        self.assertEqual(needed, {library.conda: library.at_least for library in LIBRARIES})
        self.assertIn("onednn >=2.6,<3\n", host)

    def test_all_say_the_oldest_cmake(self):
        oldest = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", text_of("CMakeLists.txt"))[1]
        self.assertIn(f'depends_on("cmake@{oldest}:"', text_of(SPACK))
        self.assertIn(f"- cmake >={oldest}\n", text_of(CONDA))
        self.assertIn(f"CMake >= {oldest}", text_of("tools/setup.sh"))

    def test_all_say_the_version_of_the_project(self):
        version = re.search(r"project\(roentgen VERSION ([\d.]+)", text_of("CMakeLists.txt"))[1]
        self.assertIn(f'\nversion = "{version}"\n', text_of("pyproject.toml"))
        self.assertIn(f'version("{version}")', text_of(SPACK))
        self.assertIn(f"roentgen@={version}\n", text_of("deploy/spack/spack.yaml"))
        self.assertIn(f'\n  version: "{version}"\n', text_of(CONDA))

    def test_what_was_not_tried_says_so_first(self):
        for path in ("deploy/apptainer.def", CONDA, "deploy/conda/libspng/recipe.yaml", SPACK,
                     "deploy/spack/spack.yaml", ".github/workflows/release.yml"):
            self.assertIn("\n# Untested, ", text_of(path)[:300], path)


class Syntax(unittest.TestCase):
    def test_python(self):
        ast.parse(text_of(SPACK))

    @unittest.skipIf(yaml is None, "no PyYAML (python3-yaml)")
    def test_yaml(self):
        for path in [*ROOT.glob("deploy/**/*.yaml"), ROOT / ".github/workflows/release.yml"]:
            self.assertIsInstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict, path)

    @unittest.skipIf(yaml is None, "no PyYAML (python3-yaml)")
    def test_commands_of_the_workflow_are_shell(self):
        jobs = yaml.safe_load(text_of(".github/workflows/release.yml"))["jobs"]
        for step in (step for job in jobs.values() for step in job["steps"] if "run" in step):
            with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
                script.write(step["run"])
                script.flush()
                subprocess.run(["bash", "-n", script.name], check=True)


if __name__ == "__main__":
    unittest.main()
