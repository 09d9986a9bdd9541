# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests which sources are grouped, and that checking groups or only changed sources hides no finding. Run by `make lint`."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import tidy
import tidy_groups

SOURCE = """namespace room {
namespace {

constexpr std::array<int, 2> kPair{1, 2};
using Words = std::vector<int>;
struct Part {
  int inside = 0;
};
template <typename T>
T twice(T value) {
  return value + value;
}
[[noreturn]] void refuse(std::string_view what,
                         int got) {
  throw got;
}
std::pair<int, int> both();

}  // namespace

int shared() { return 1; }

}  // namespace room
"""


class TidyGroups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def test_own_names_are_those_of_anonymous_namespaces(self):
        self.assertEqual(tidy_groups.own_names(SOURCE), {"kPair", "Words", "Part", "twice", "refuse", "both"})

    def test_arguments_leave_compiler_source_and_output_out(self):
        self.assertEqual(tidy_groups.arguments_of("ccache g++ -I/a --param=ggc-min-expand=9 -O2 -o x.o -c /a/x.cpp"), ["-I/a", "-O2"])

    def test_sources_fit_when_names_flags_and_folders_do(self):
        own = "namespace {{\nint {}() {{ return 1; }}\n}}  // namespace\n"
        a, b, c = (self.write(f"room/{name}.cpp", own.format(name)) for name in "abc")
        same = self.write("room/same.cpp", own.format("a"))
        other = self.write("simd/d.cpp", own.format("d"))
        commands = {source: f"g++ -O2 -o x.o -c {source}" for source in (a, b, c, same, other)}
        self.assertEqual(tidy_groups.groups_of(commands, commands, 8), [[a, b, c], [same], [other]])
        alone = self.write("room/e.cpp", own.format("e") + "#define HWY_TARGET_INCLUDE \"e.cpp\"\n")
        with_alone = {**commands, alone: f"g++ -O2 -o x.o -c {alone}"}
        self.assertIn([alone], tidy_groups.groups_of(with_alone, with_alone, 8))
        self.assertEqual(tidy_groups.groups_of(commands, commands, 2), [[a, b], [c, same], [other]])
        commands[b] = f"g++ -mavx2 -o x.o -c {b}"
        self.assertEqual(tidy_groups.groups_of(commands, commands, 8), [[a, c], [b], [same], [other]])


@unittest.skipUnless(shutil.which("clang-tidy"), "NO clang-tidy: NOTHING TESTED")
class Tidy(unittest.TestCase):
    """Runs tools/tidy.py in a small source tree."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        tools = pathlib.Path(__file__).resolve().parent
        shutil.copytree(tools, self.root / "tools", ignore=shutil.ignore_patterns("peers", "__pycache__"))
        shutil.copy(tools.parent / ".clang-tidy", self.root)
        (self.root / "src").mkdir()
        (self.root / "build").mkdir()
        tidy.GROUPS.mkdir(parents=True, exist_ok=True)

    def tidy(self, sources, *words):
        for name, text in sources.items():
            (self.root / "src" / name).write_text(text)
        entries = [{"directory": str(self.root), "file": str(path), "command": f"g++ -std=c++20 -o x.o -c {path}"}
                   for path in sorted((self.root / "src").glob("*.cpp"))]
        (self.root / "build" / "compile_commands.json").write_text(json.dumps(entries))
        done = subprocess.run([sys.executable, str(self.root / "tools" / "tidy.py"), str(self.root / "build"), *words],
                              capture_output=True, text=True, check=False,
                              env=os.environ | {"XDG_CACHE_HOME": str(self.root / "cache")})
        return done.returncode, done.stdout + done.stderr

    def test_finds_the_offence_of_one_among_many_and_names_no_other(self):
        status, text = self.tidy({"a.cpp": "int* first() { return nullptr; }\n",
                                  "b.cpp": "int* second() { return 0; }\nint _Third = 1;\n",
                                  "c.cpp": "int fourth() { return 4; }\n"})
        self.assertEqual(status, 1, text)
        self.assertIn("3 files checked in 1 groups, 1 with findings", text)
        self.assertIn("src/b.cpp:1:24: error: use nullptr [modernize-use-nullptr", text)
        self.assertIn("clang-diagnostic-reserved-identifier", text)
        self.assertNotIn("a.cpp", text)
        status, text = self.tidy({"b.cpp": "int* second() { return nullptr; }\n"})
        self.assertEqual(status, 0, text)
        self.assertIn("1 files checked", text)

    def test_a_clone_elsewhere_knows_what_is_clean(self):
        sources = {"a.cpp": "int first() { return 1; }\n"}
        self.assertIn("1 files checked", self.tidy(sources)[1])
        with tempfile.TemporaryDirectory() as folder:
            clone = pathlib.Path(folder).resolve() / "clone"
            shutil.copytree(self.root, clone)
            shutil.rmtree(clone / "cache")
            (clone / "cache").symlink_to(self.root / "cache")
            self.root = clone
            self.assertIn("1 known to be clean", self.tidy(sources)[1])

    def test_checks_what_changed_since_the_base(self):
        def git(*words):
            subprocess.run(["git", "-C", str(self.root), "-c", "user.name=n", "-c", "user.email=e", *words], check=True,
                           capture_output=True)

        sources = {"a.cpp": "int* first() { return 0; }\n", "b.cpp": "int second() { return 2; }\n",
                   "read.h": "#pragma once\nint third();\n",
                   "c.cpp": "#include \"read.h\"\nint third() { return 3; }\n",
                   "d.cpp": "#include \"read.h\"\nint* fourth() { return 0; }\n"}
        git("init", "-b", "main")
        status, text = self.tidy(sources, "--changed")
        self.assertEqual(status, 1, text)
        self.assertIn("4 of 4 sources (whole tree: no git history)", text)
        git("add", ".")
        git("commit", "-m", "before")
        git("checkout", "-b", "change")
        git("commit", "--allow-empty", "-m", "change")
        status, text = self.tidy({"b.cpp": "int second() { return 20; }\n"}, "--changed")
        self.assertIn("1 of 4 sources (changed since", text)
        self.assertEqual(status, 0, text)
        # Checks a header through one of the sources that include it.
        status, text = self.tidy({"read.h": "#pragma once\nint third();\ninline int* none() { return 0; }\n"}, "--changed")
        self.assertIn("2 of 4 sources", text)
        self.assertIn("src/read.h:3:29: error: use nullptr", text)
        self.assertEqual(status, 1, text)

    def test_a_header_that_clang_cannot_parse_is_no_sign_of_a_bad_group(self):
        error = "/usr/include/c++/12/ranges:1:2: error: no matching function [clang-diagnostic-error]"
        note = "/src/a.cpp:3:4: note: in instantiation of function template"
        self.assertEqual(tidy.errors_in("/src", [error, "  code", note]), [])
        own = "/src/a.cpp:3:4: error: redefinition of 'same' [clang-diagnostic-error]"
        self.assertEqual(tidy.errors_in("/src", [error, own, note]), [own])

    def test_a_name_that_hides_one_of_another_source_is_no_finding(self):
        path = self.root / "src" / "a.cpp"
        path.write_text("namespace {\nconst int kWord = 1;\n}  // namespace\nint a() { return kWord; }\n")
        other = self.root / "src" / "b.cpp"
        other.write_text("int b() {\n  const int kWord = 2;\n  return kWord;\n}\n")
        findings, unparsed = tidy.run_together([path, other], ["-std=c++20", "-Wshadow", "-Werror"], [])
        self.assertEqual((findings, unparsed), ([], []))

    def test_sources_that_do_not_fit_after_all_are_checked_alone(self):
        status, text = self.tidy({"a.cpp": "#define NAME same\nstatic int NAME() { return 1; }\nint a() { return same(); }\n",
                                  "b.cpp": "static int same() { return 2; }\nint b() { return same(); }\n"})
        self.assertEqual(status, 0, text)
        self.assertIn("0 with findings, 0 not parsed", text)


if __name__ == "__main__":
    unittest.main()
