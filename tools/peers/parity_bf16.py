#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""How far PyTorch's training in bf16 (autocast on the CPU) is from float64: the yardstick of our bf16 tests.

  python3 tools/peers/parity_bf16.py tests/golden/parity resnet50_224px densenet121_224px

Prints, for each golden file and layout, the median and the largest relative L2 error of its gradients, and those of
logits and loss. Works with any PyTorch from 1.13 on; nothing is written.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import pathlib
import statistics

import numpy as np
import torch

import parity_golden as golden_cases


def training_pass(build, spec, batch, layout):
    model = golden_cases.make(build, torch.float32, layout).train()
    image, target, mask = golden_cases.feed(batch, spec["shape"], torch.float32, layout)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits, _ = golden_cases.heads(model(image))
    loss = golden_cases.masked_loss(logits.float(), target, mask)
    loss.backward()
    tensors = {name: p.grad for name, p in model.named_parameters()}
    return {"logits": logits.detach().double().numpy().reshape(-1), "loss": loss.item(),
            "gradients": golden_cases.summarise(tensors, spec["projections"])}


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
        golden = json.loads((arguments.folder / f"{name}.json").read_text())
        for layout in golden_cases.LAYOUTS:
            squares, logits, loss = {}, 0.0, 0.0
            for batch, expected in enumerate(golden["training"]):
                ours = training_pass(build, spec, batch, layout)
                gradients = dict(zip(golden["gradient_names"], map(np.array, expected["gradients"])))
                for parameter, error in golden_cases.errors(ours["gradients"], gradients).items():
                    squares[parameter] = squares.get(parameter, 0.0) + error**2 / len(golden["training"])
                logits = max(logits, float(abs(ours["logits"] - np.array(expected["logits"])).max()))
                loss = max(loss, abs(ours["loss"] - expected["loss"]))
            errors = [square**0.5 for square in squares.values()]
            print(f"{name} {layout} PyTorch {torch.__version__}: gradient median {statistics.median(errors):.2e} "
                  f"max {max(errors):.2e}, logits {logits:.1e}, loss {loss:.1e}", flush=True)


if __name__ == "__main__":
    main()
