# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of doctor_scale.py."""
import argparse
import unittest

import doctor_scale


class DoctorScale(unittest.TestCase):
    def test_medians_of_rounds_are_compared(self):
        rounds = {"predicted": [{1: 20.0, 2: 30.0}, {1: 20.0, 2: 33.0}, {1: 20.0, 2: 90.0}],
                  "measured": [{1: 19.0, 2: 30.0}, {1: 5.0, 2: 29.0}, {1: 20.0, 2: 31.0}]}
        rows = doctor_scale.compare(rounds, 0.1)
        self.assertEqual([row[0] for row in rows], [1, 2])
        self.assertAlmostEqual(rows[0][3], 20.0 / 19.0)
        self.assertAlmostEqual(rows[1][3], 33.0 / 30.0)
        self.assertTrue(rows[0][4])
        self.assertFalse(doctor_scale.compare(rounds, 0.05)[0][4])

    def test_both_commands_train_the_same_network_on_the_same_hosts(self):
        options = argparse.Namespace(program="roentgen", model="m", batch=4, image=32, device="emulated:20", steps=9)
        commands = doctor_scale.commands(options, "out.json")
        for words in commands.values():
            self.assertEqual(words[words.index("--hosts") + 1], "10.99.0.1:1,10.99.0.2:1")
            self.assertEqual(words[words.index("--batch") + 1], 4)
            self.assertEqual(words[words.index("--json") + 1], "out.json")
        self.assertEqual(commands["predicted"][1:3], ["doctor", "scale"])
        self.assertEqual(commands["measured"][1:3], ["bench", "scaling"])

    def test_speeds_are_read_from_both_results(self):
        self.assertEqual(doctor_scale.speeds({"points": [{"devices": 2, "images_per_s": 3.0}]}), {2: 3.0})
        self.assertEqual(doctor_scale.speeds({"points": [{"ranks": 2, "images_per_s": 4.0}]}), {2: 4.0})

    def test_without_root_or_programs_it_says_what_is_missing(self):
        self.assertIn("root", doctor_scale.why_skipped(user=1000))
        self.assertIn("tc", doctor_scale.why_skipped(user=0, find=lambda name: None if name == "tc" else name))
        self.assertIsNone(doctor_scale.why_skipped(user=0, find=lambda name: name))


if __name__ == "__main__":
    unittest.main()
