#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of link_faults.py on a run's log; nothing is run."""
import argparse
import json
import unittest

import link_faults


def log_of(losses, slow=None):
    lines = [{"kind": "step", "step": i + 1, "loss": loss, "images_per_s": 8.0 / (i + 1), "comm_exposed": 0.25}
             for i, loss in enumerate(losses)]
    if slow is not None:
        lines.append({"kind": "links", "step": 3, "slow": slow, "usual_mb_per_s": 117.0, "slow_links": []})
    return "".join(json.dumps(line) + "\n" for line in lines)


def row(case, losses=(3.0, 2.0, 1.0), slow=None, exit_code=link_faults.STOPPED):
    return link_faults.row_of(case, exit_code, log_of(losses, slow), "", 8)


class Rows(unittest.TestCase):
    def test_first_update_does_not_count(self):
        found = row("well")
        self.assertEqual(found["updates"], 3)
        self.assertEqual(found["seconds"], 2.5)  # of 2 and 3 s
        self.assertEqual(found["seconds_max"], 3.0)
        self.assertIsNone(found["slow"])

    def test_reads_what_was_said(self):
        said = ("12:00:00 warning: [train.links] rank 2 (host3): expected x, got y\nnoise\n"
                "[emulated.hosts] 10 of 1000 packets lost (1.00%)\n")
        found = link_faults.row_of("both", 3, log_of([1.0, 1.0], ["host3"]), said, 8)
        self.assertEqual(found["warnings"], ["[train.links] rank 2 (host3): expected x, got y"])
        self.assertEqual(found["lost"], "10 of 1000 packets lost (1.00%)")
        self.assertIn("| both | 2.00 (2.00) | 25% | 10 of 1000 (1.00%) | host3 |", link_faults.markdown([found]))

    def test_no_run_without_a_fault_is_reported(self):
        rows = [row("well", slow=[]), row("1% of all packets lost", slow=[]), row("host 3 slow", slow=["host3"]), row("both", slow=["host3"])]
        self.assertEqual(link_faults.faults_of(rows, 3, 3), [])

    def test_every_fault_is_reported(self):
        rows = [row("well"), row("1% of all packets lost", slow=["host1"]), row("host 3 slow", slow=[]), row("both", slow=["host3"], exit_code=1)]
        rows[3]["losses"] = [0.0]
        faults = link_faults.faults_of(rows, 3, 3)
        self.assertEqual(len(faults), 5)
        for text, fault in zip(("well: no test", "named ['host1']", "named []", "exit code 1", "other losses"), faults):
            self.assertIn(text, fault)

    def test_a_run_of_one_update_has_its_time_and_one_of_none_is_an_error(self):
        found = row("well", losses=[3.0])
        self.assertEqual((found["updates"], found["seconds"], found["seconds_max"]), (1, 1.0, 1.0))
        self.assertIn("| not tested |", link_faults.markdown([found]))
        with self.assertRaisesRegex(SystemExit, "well: no update was made\nwhy"):
            link_faults.row_of("well", 1, "", "why", 8)

    def test_cases_differ_in_the_network_alone(self):
        found = dict(link_faults.cases(argparse.Namespace(loss="1", slow="3:100mbit")))
        self.assertEqual(found["well"], {})
        self.assertEqual(found["both"], {"LOSS": "1", "SLOW": "3:100mbit"})
        self.assertEqual(link_faults.slow_host("12:10mbit"), 12)


if __name__ == "__main__":
    unittest.main()
