# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/optimizers.csv: what torch's optimizers make of eight numbers in five steps.

Run: /usr/bin/python3 tools/peers/optimizer_golden.py > tests/golden/optimizers.csv   (written with torch 1.13.0)
Parameters and gradients are small fractions, exact in float32, so both sides start from the same bits.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import torch

COUNT, STEPS = 8, 5
CASES = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, weight_decay=0.1),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.9),
    "rmsprop_centered": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True, weight_decay=0.1),
}


def parameter(i):
    return (i * 37 % 11 - 5) / 8


def gradient(i, step):
    return ((i * 7 + step * 13) % 17 - 8) / 16


def main():
    print("case,step," + ",".join(f"p{i}" for i in range(COUNT)))
    for name, make in CASES.items():
        p = torch.nn.Parameter(torch.tensor([parameter(i) for i in range(COUNT)], dtype=torch.float32))
        optimizer = make([p])
        for step in range(1, STEPS + 1):
            p.grad = torch.tensor([gradient(i, step) for i in range(COUNT)], dtype=torch.float32)
            optimizer.step()
            print(f"{name},{step}," + ",".join(f"{value:.9g}" for value in p.tolist()))


if __name__ == "__main__":
    main()
