#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Measures the error of PyTorch's training in bf16 (autocast on the CPU) against float64, for tolerances of our tests.

  python3 tools/peers/parity_bf16.py tests/golden/parity resnet50_224px densenet121_224px

Prints, for each golden file and layout, the median and the largest relative L2 error of its gradients, and those of
logits and loss. Works with any PyTorch from 1.13 on; nothing is written.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import json
import pathlib
import statistics

import numpy as np
import torch

import parity_golden as golden_cases


def golden_passes(golden):
    """Training passes stored in a golden file."""
    return [{"loss": batch["loss"], "logits": np.array(batch["logits"]),
             "gradients": dict(zip(golden["gradient_names"], map(np.array, batch["gradients"])))}
            for batch in golden["training"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    known = golden_cases.cases(arguments.folder)
    for name in arguments.names:
        _, build, spec = known[name]
        golden = golden_passes(json.loads((arguments.folder / f"{name}.json").read_text()))
        for layout in golden_cases.LAYOUTS:
            ours = [golden_cases.training_pass(build, spec, batch, torch.float32, layout, is_bf16=True)
                    for batch in range(len(golden))]
            gradients, logits, loss = golden_cases.training_errors(list(zip(ours, golden)))
            median = statistics.median(gradients.values())
            print(f"{name} {layout} PyTorch {torch.__version__}: gradient median {median:.2e} "
                  f"max {max(gradients.values()):.2e}, logits {logits:.1e}, loss {loss:.1e}", flush=True)


if __name__ == "__main__":
    main()
