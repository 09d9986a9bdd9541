# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of ps_saturation.py."""
import argparse
import pathlib
import re
import unittest

import ps_saturation

PS, SYNC = {"update": "ps", "servers": 1}, {"update": "sync", "reduce": "ring"}


def options(**changed):
    return argparse.Namespace(program="roentgen", batch=8, device="emulated:32", steps=10, rate=100, servers="1,2", **changed)


def row(**changed):
    return {"arm": "ps, 1 server", "workers": 4, "images_per_s": 12.0, "min": 11.0, "max": 13.0, "unlimited": 120.0,
            "update_s": 2.6, "predicted_bytes": 19e6, "link_s": 1.5, "counted_bytes": 19.2e6} | changed


class PsSaturation(unittest.TestCase):
    def test_the_busiest_link_carries_the_gradients_of_all_workers_of_a_server(self):
        self.assertEqual(ps_saturation.link_bytes(PS, 4, 100.0), 400.0)
        self.assertEqual(ps_saturation.link_bytes(PS | {"servers": 2}, 4, 100.0), 200.0)
        self.assertEqual(ps_saturation.link_bytes(PS | {"servers": 2}, 1, 100.0), 100.0, "of the worker")
        self.assertEqual(ps_saturation.link_bytes(SYNC, 4, 100.0), 150.0)
        self.assertEqual(ps_saturation.link_bytes(SYNC, 1, 100.0), 0.0)

    def test_all_arms_train_the_same_network_with_a_rank_on_each_host(self):
        arms = ps_saturation.arms("1,2")
        self.assertEqual(list(arms), ["sync, exchange", "sync, ring", "ps, 1 server", "ps, 2 servers"])
        for arm in arms.values():
            words = ps_saturation.command(options(), arm, 4, "100mbit", pathlib.Path("f"))
            hosts = words[words.index("--hosts") + 1].split(",")
            self.assertEqual(len(hosts), 4 + arm.get("servers", 0))
            self.assertEqual(words[1:3], [str(len(hosts)), "100mbit"])
            self.assertIn(f"seq {len(hosts)})", words[5], "counts the bytes of every host")
            self.assertEqual(words[words.index("--ranks") + 1], "4", "workers alone")
            self.assertEqual(words[words.index("--update") + 1], arm["update"])
            self.assertEqual(words[words.index("--model") + 1], "f/net.txt")

    def test_the_network_has_as_many_parameters_as_it_says(self):
        text, parameters = ps_saturation.network()
        channels, total = 3, 0
        for outputs in map(int, re.findall(r"conv2d\(\w+, out=(\d+), kernel=3x3", text)):
            total, channels = total + (9 * channels + 1) * outputs, outputs
        self.assertEqual(parameters, total + (channels + 1) * ps_saturation.LABELS)

    def test_a_row_has_medians_and_the_time_of_the_link(self):
        rounds = {100: [{"images_per_s": speed, "bytes": 19e6} for speed in (16.0, 12.0, 99.0)],
                  "none": [{"images_per_s": 120.0, "bytes": 19e6}]}
        made = ps_saturation.row_of(options(), "ps, 1 server", 4, rounds)
        self.assertEqual((made["images_per_s"], made["min"], made["max"]), (16.0, 12.0, 99.0))
        self.assertEqual(made["update_s"], 2.0)
        self.assertAlmostEqual(made["link_s"], 4 * 4 * ps_saturation.network()[1] / 12.5e6)
        self.assertIn("| ps, 1 server | 4 | 16.0 (12.0 to 99.0) | 2.00 | 19.0 | 19.0 | 1.52 | 76% | 120.0 |",
                      ps_saturation.markdown([made]))

    def test_faults_name_what_makes_the_table_worthless(self):
        self.assertEqual(ps_saturation.faults([row()], 32.0), [])
        self.assertEqual(ps_saturation.faults([row(unlimited=70.0)], 32.0), [], "the link limits far more")
        for changed, text in (({"unlimited": 14.0}, "the processor limits"), ({"update_s": 1.0}, "expected at least 1.50 s"),
                              ({"counted_bytes": 30e6}, "got 30.0 MB")):
            faults = ps_saturation.faults([row(**changed)], 32.0)
            self.assertEqual(len(faults), 1)
            self.assertIn(text, faults[0])


if __name__ == "__main__":
    unittest.main()
