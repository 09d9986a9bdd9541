# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of tools/bundle.py with components that are made up here. Run by `make lint`."""
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import bundle


class Bundle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def component(self, name, text, files=("liba.so.1",)):
        notice = self.folder / name
        notice.write_text(text, encoding="utf-8")
        return bundle.Component(name, "1.2-3", "MIT", f"pkg:deb/debian/{name}@1.2-3", notice, files)

    def test_the_number_of_an_abi_does_not_change_the_licence(self):
        for package, licence in (("libfmt9", "MIT"), ("libspdlog1.10", "MIT"), ("libopenjp2-7", "BSD-2-Clause"),
                                 ("libxml2", "MIT AND ISC"), ("nlohmann-json3-dev", "MIT")):
            self.assertEqual(bundle.license_of(package), licence)

    def test_a_package_without_a_licence_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, r"libnew3: expected its licence in tools/bundle.py"):
            bundle.license_of("libnew3")

    def test_notices_hold_every_text_and_the_long_licences_they_refer_to(self):
        apache = bundle.COMMON / "Apache-2.0"
        text = bundle.notices([self.component("liba1", f"(c) A, see {apache}."), self.component("libb1", "(c) B")])
        self.assertIn("  liba1 1.2-3: MIT\n  libb1 1.2-3: MIT\n", text)
        self.assertIn("(c) A", text)
        self.assertIn("(c) B", text)
        if apache.is_file():
            self.assertIn("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION", text)

    def test_a_header_gives_its_first_comment(self):
        text = bundle.notices([self.component("map.h", "/* MIT (c) A */\n#define CODE 1\n")])
        self.assertIn("MIT (c) A */", text)
        self.assertNotIn("CODE", text)

    def test_the_copyright_of_debian_packages_is_machine_readable(self):
        text = bundle.debian_copyright([self.component("liba1", "(c) A\n\n  Permission\n")])
        self.assertTrue(text.startswith("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"))
        header, files = text.split("\n\n")
        self.assertIn("\n (c) A\n .\n   Permission\n", header + "\n")
        self.assertRegex(files, r"^Files: \*\nCopyright: \d{4} The Roentgen authors\nLicense: Apache-2.0\n ")

    def test_the_sbom_is_of_program_and_module(self):
        opened = {"roentgen": {"liba.so": 1}, "_native.abi3.so": {"libb.so": 2}}
        with unittest.mock.patch.object(bundle, "linked", side_effect=lambda binary: opened[binary.name]):
            self.assertEqual(bundle.linked_of_wheel(self.folder), {"liba.so": 1, "libb.so": 2})

    def test_the_sbom_names_version_licence_and_files(self):
        document = bundle.sbom("0.1.0", [self.component("liba1", "")])
        self.assertEqual((document["bomFormat"], document["specVersion"]), ("CycloneDX", "1.5"))
        part, = document["components"]
        self.assertEqual(part["licenses"], [{"expression": "MIT"}])
        self.assertEqual(part["properties"], [{"name": "roentgen:file", "value": "liba.so.1"}])
        self.assertEqual(document["dependencies"][0]["dependsOn"], [part["bom-ref"]])

    def test_the_lowest_glibc_is_that_of_the_newest_symbol(self):
        self.assertRegex(bundle.lowest([sys.executable], "GLIBC_2."), r"^2\.\d+$")
        with unittest.mock.patch.object(bundle, "output", return_value="GLIBC_2.9 GLIBC_2.34 GLIBC_2.4 GLIBCXX_3.4.30"):
            self.assertEqual(bundle.lowest(["a"], "GLIBC_2."), "2.34")
            self.assertEqual(bundle.lowest(["a"], "GLIBCXX_3.4."), "3.4.30")


if __name__ == "__main__":
    unittest.main()
