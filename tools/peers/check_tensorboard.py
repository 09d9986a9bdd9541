#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares a run's event files, as TensorBoard reads them, with the run's log.

  pip install tensorboard
  python3 tools/peers/check_tensorboard.py RUN

The event files must contain every loss, learning rate and AUROC of log.jsonl once, at its step, as the nearest float32,
and nothing else. Exits 1 otherwise.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import json
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

NAMES = {
    "step": {"loss": "train/loss", "lr": "train/lr", "gradient_norm": "train/gradient_norm",
             "images_per_s": "speed/images_per_s", "data_wait": "speed/data_wait"},
    "epoch": {"train_loss": "epoch/train_loss", "val_loss": "epoch/val_loss", "val_auroc": "epoch/val_auroc"},
}


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = pathlib.Path(sys.argv[1])
    logged = {}
    for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for key, name in NAMES.get(record["kind"], {}).items():
            if record.get(key) is not None:
                logged[name, record["step"]] = float32(record[key])
    board = EventAccumulator(str(run), {"scalars": 0})
    board.Reload()
    events = [(name, event.step, event.value) for name in board.Tags()["scalars"] for event in board.Scalars(name)]
    shown = {(name, step): value for name, step, value in events}
    wrong = [key for key in sorted(logged.keys() | shown.keys()) if logged.get(key) != shown.get(key)]
    for key in wrong[:10]:
        print(f"{key[0]} at step {key[1]}: log {logged.get(key)}, TensorBoard {shown.get(key)}")
    print(f"{len(logged)} numbers in the log, {len(events)} in TensorBoard, {len(wrong)} that differ")
    sys.exit(1 if wrong or not logged or len(events) != len(shown) else 0)


if __name__ == "__main__":
    main()
