# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs a Roentgen graph text (src/graph/text.h) in PyTorch: the ops that the parity tests need, and no more."""
import re

import torch
from torch import nn
from torch.nn import functional

_STATEMENT = re.compile(r"^(\w[\w.]*)\s*=\s*(\w+)\((.*)\)$")


def _extent(text):
    height, width = text.split("x")
    return int(height), int(width)


class GraphModule(nn.Module):
    """Runs the graph: forward(image) returns the value of `output logits`. Parameters are named as in the graph:
    "<node>.weight"."""

    def __init__(self, text, symbols):
        super().__init__()
        self.steps = []
        channels = {}
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if not line or line.startswith("graph "):
                continue
            if line.startswith("input "):
                name, dims = re.match(r"input (\w+) \((.*)\)", line).groups()
                channels[name] = symbols.get(dims.split(",")[1].strip())
                continue
            if line.startswith("output "):
                self.result = line.split("=")[1].strip()
                continue
            name, op, arguments = _STATEMENT.match(line).groups()
            words = [word.strip() for word in arguments.split(",")]
            inputs = [word for word in words if "=" not in word]
            options = dict(word.split("=") for word in words if "=" in word)
            channels[name] = self._add(name, op, [channels[i] for i in inputs], options, symbols)
            self.steps.append((name, op, inputs, options))

    def _add(self, name, op, in_channels, options, symbols):
        if op == "conv2d":
            out = int(options["out"])
            self.add_module(name, nn.Conv2d(
                in_channels[0], out, _extent(options["kernel"]), _extent(options.get("stride", "1x1")),
                _extent(options.get("pad", "0x0")), groups=int(options.get("groups", 1)),
                bias=options.get("bias", "yes") == "yes"))
            return out
        if op == "linear":
            out = symbols.get(options["out"]) or int(options["out"])
            self.add_module(name, nn.Linear(in_channels[0], out))
            return out
        if op == "batch_norm":
            self.add_module(name, nn.BatchNorm2d(in_channels[0]))
        return sum(in_channels) if op == "concat" else in_channels[0]

    def forward(self, image):
        values = {"image": image}
        for name, op, inputs, options in self.steps:
            src = [values[i] for i in inputs]
            if op in ("conv2d", "linear", "batch_norm"):
                values[name] = self.get_submodule(name)(src[0])
            elif op == "avg_pool":
                values[name] = functional.avg_pool2d(src[0], _extent(options["kernel"]), _extent(options["stride"]))
            else:
                values[name] = {
                    "silu": lambda: functional.silu(src[0]), "sigmoid": lambda: torch.sigmoid(src[0]),
                    "add": lambda: src[0] + src[1],
                    "concat": lambda: torch.cat(src, 1), "flatten": lambda: torch.flatten(src[0], 1),
                    "global_avg_pool": lambda: functional.adaptive_avg_pool2d(src[0], 1)}[op]()
        return values[self.result]
