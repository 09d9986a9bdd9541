# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fuzz  # noqa: E402
import fuzz_corpus  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fuzz"


class FuzzTest(unittest.TestCase):
    def test_every_target_has_a_file_and_an_input(self):
        names = fuzz.targets((ROOT / "target_list.h").read_text())
        self.assertIn("png", names)
        for name in names:
            self.assertTrue((ROOT / "targets" / f"{name}.cpp").is_file(), name)
            self.assertTrue(any((ROOT / "corpus" / name).iterdir()), name)

    def test_seeds_are_small_files_that_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            (data / "a.png").write_bytes(b"x")
            (data / "b.png").write_bytes(bytes(fuzz.LARGEST_SEED_BYTES + 1))
            (data / "c.txt").write_bytes(b"x")
            self.assertEqual([path.name for path in fuzz.seeds(["*.png"], data)], ["a.png"])

    def test_figures_are_those_told_last(self):
        log = "#2\tINITED cov: 5 ft: 6 corp: 1/1b\n#9\tNEW    cov: 7 ft: 8 corp: 3/9b lim: 4\n"
        self.assertEqual(fuzz.last_figures(log), ("9", "7", "3"))

    def test_the_written_inputs_are_those_that_are_checked_in(self):
        for name, data in fuzz_corpus.files().items():
            self.assertEqual((ROOT / "corpus" / name).read_bytes(), data, name)


if __name__ == "__main__":
    unittest.main()
