# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""The csv files of `roentgen bench report` open in pandas with the right types."""
import json

import pandas
from conftest import run_program
from pandas.api.types import is_numeric_dtype


def test_tables_have_numbers_and_texts(ledger, tmp_path):
    run_program("bench", "report", ledger, "--out", tmp_path / "page.html")
    record = json.loads(next(ledger.glob("*.json")).read_text())
    tables = {path.stem.removeprefix("page_"): pandas.read_csv(path) for path in tmp_path.glob("*.csv")}
    assert set(tables) == {"throughput", "scaling", "roofline", "energy", "other", "settings"}
    (row,) = tables["throughput"].itertuples()
    assert row.commit == record["commit"] and row.records == 1
    assert abs(row.median / record["result"]["images_per_s"] - 1) < 1e-4  # five digits
    assert row.command == " ".join(record["command"])
    scaling = tables["scaling"]
    for name in ("devices", "published images/s", "published efficiency", "our images/s", "ratio"):
        assert is_numeric_dtype(scaling[name]), name
    assert scaling["our images/s"].isna().all(), "images of 32 px do not stand beside published speeds"
    assert "model=resnet18" in tables["settings"].settings[0]
