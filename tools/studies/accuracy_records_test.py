# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Tests of accuracy_records.py."""
import argparse
import json
import pathlib
import tempfile
import unittest

import accuracy_records


class AccuracyRecords(unittest.TestCase):
    def test_tasks_have_a_name_a_recipe_and_data(self):
        self.assertEqual(accuracy_records.task_of("sex=nih_view_sex:nih:Sex:M"), ("sex", "nih_view_sex", "nih", "Sex:M"))
        self.assertEqual(accuracy_records.task_of("a=b:c"), ("a", "b", "c", None))
        for wrong in ("a", "a=b", "=b:c", "a=b:", "a=b::c"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=wrong):
                accuracy_records.task_of(wrong)

    def test_changes_are_of_one_task_or_of_all(self):
        self.assertEqual(accuracy_records.set_of("train.epochs=3"), (None, "train.epochs=3"))
        self.assertEqual(accuracy_records.set_of("sex:train.epochs=3"), ("sex", "train.epochs=3"))
        self.assertEqual(accuracy_records.set_of('data.labels=["Sex:M"]'), (None, 'data.labels=["Sex:M"]'))
        for wrong in ("train.epochs", "a:=3", ":a=3", "a=", "=3"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=wrong):
                accuracy_records.set_of(wrong)

    def test_auroc_is_of_a_label_or_the_mean(self):
        rows = [{"label": "A", "auc": "0.5"}, {"label": "B", "auc": "0.9"}, {"label": "C", "auc": ""},
                {"label": "mean", "auc": "0.1"}]
        self.assertAlmostEqual(accuracy_records.auroc_of(rows, None), 0.7)
        self.assertEqual(accuracy_records.auroc_of(rows, "B"), 0.9)
        with self.assertRaisesRegex(SystemExit, "expected an AUROC of C, got those of A, B"):
            accuracy_records.auroc_of(rows, "C")

    def test_records_have_the_form_of_the_program(self):
        record = accuracy_records.record_of("0123456789", ["roentgen", "train"], {"auroc": 0.5})
        self.assertEqual(set(record), {"schema", "date", "host", "commit", "command", "case", "result"})
        self.assertRegex(record["host"], "^[0-9a-f]{12}$")
        with tempfile.TemporaryDirectory() as folder:
            path = accuracy_records.write_record(pathlib.Path(folder) / "new", record)
            self.assertRegex(path.name, "^[0-9]{8}T[0-9]{6}Z-accuracy-01234567-[0-9a-f]{8}[.]json$")
            self.assertEqual(json.loads(path.read_text()), record)


if __name__ == "__main__":
    unittest.main()
