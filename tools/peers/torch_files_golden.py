#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/torch: small files of torch.save, of both containers, for the reader of ours (io/torch_file.h).

  python3 -m venv venv && venv/bin/pip install torch
  venv/bin/python tools/peers/torch_files_golden.py tests/golden/torch
  venv/bin/python tools/peers/torch_files_golden.py --names tests/golden/torch   # names of the libraries' own networks

With --names it writes names.csv: `library,model,name,shape` for each float tensor of the state dicts of torchvision, timm
and torchxrayvision that `train --init` and `convert-weights` know.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import collections
import os
import pathlib
import sys
import types
import warnings

import torch


def values(*shape, dtype=torch.float32):
    """Values 0, 0.25, 0.5, ..., which are exact in every float type."""
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(count, dtype=torch.float64) / 4).reshape(shape).to(dtype)


def state_dict():
    """Tensors of every kind that the reader supports; torch_file_test.cpp has the same values as `expected`."""
    shared = values(4, 5)
    return collections.OrderedDict(
        f32=values(2, 3), f64=values(3, dtype=torch.float64), f16=values(2, 2, dtype=torch.float16),
        bf16=values(3, dtype=torch.bfloat16), transposed=shared.t(), rows=shared[1:3], columns=shared[:, 2:4],
        repeated=values(1, 2).expand(3, 2), scalar=torch.tensor(2.5), nothing=torch.zeros(0, 3),
        num_batches_tracked=torch.tensor(7), mask=torch.tensor([True, False]),
        parameter=torch.nn.Parameter(values(2)))


class Net(torch.nn.Module):
    """A whole model with modules, a stored buffer, a buffer that is not stored, and a layer without bias."""

    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(collections.OrderedDict(
            conv0=torch.nn.Conv2d(1, 2, 1, bias=False), norm0=torch.nn.BatchNorm2d(2)))
        self.classifier = torch.nn.Linear(2, 2)
        self.register_buffer("op_threshs", torch.tensor([0.5, float("nan")]))
        self.register_buffer("cache", values(2), persistent=False)
        self.pathologies = ["Mass", "Hernia"]
        self.classifier.weight.data = values(2, 2)


class Evil:
    """Malicious object, which would run a program when Python unpickles it."""

    def __reduce__(self):
        return os.system, ("true",)


def write_files(folder):
    """Writes every file in both container formats of torch.save."""
    module = types.ModuleType("torchxrayvision.models")  # the class's name in the file, which torch.save looks up
    module.Net, Net.__module__ = Net, module.__name__
    sys.modules["torchxrayvision"], sys.modules[module.__name__] = types.ModuleType("torchxrayvision"), module
    training = {"epoch": 3, "state_dict": state_dict(), "best": 0.75, "args": argparse.Namespace(lr=0.1)}

    def no_source(*_):
        raise OSError("the old container holds no source text of others")
    torch.serialization.get_source_lines_and_file = no_source
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    files = {"state": state_dict(), "training": training, "whole": Net(), "evil": {"weight": Evil()},
             "complex": {"z": torch.zeros(2, dtype=torch.complex64)}, "sparse": {"weight": values(2, 2).to_sparse()},
             "number": {"weight": values(2), "epoch": 3}}
    for name, content in files.items():
        torch.save(content, folder / f"{name}.pt")
        torch.save(content, folder / f"{name}_legacy.pt", _use_new_zipfile_serialization=False)
    torch.jit.script(torch.nn.Linear(1, 1)).save(folder / "script.pt")


def write_names(folder):
    """Names and shapes of the libraries' networks, without weights."""
    import timm
    import torchvision
    import torchxrayvision

    networks = []
    for model in ("resnet18", "densenet121", "inception_v3"):
        extra = {"init_weights": False} if model == "inception_v3" else {}
        networks.append(("torchvision", model, getattr(torchvision.models, model)(**extra)))
    for model in ("resnet50", "densenet121", "vgg16_bn"):
        networks.append(("timm", model, timm.create_model(model)))
    dense = torchxrayvision.models.DenseNet(op_threshs=torch.zeros(18))
    networks.append(("torchxrayvision", "densenet121", dense))
    with open(folder / "names.csv", "w") as out:
        out.write("library,model,name,shape\n")
        for library, model, network in networks:
            for name, tensor in network.state_dict().items():
                if tensor.is_floating_point():
                    out.write(f"{library},{model},{name},{'x'.join(str(size) for size in tensor.shape)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--names", action="store_true", help="names.csv alone")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    write_names(options.folder) if options.names else write_files(options.folder)


if __name__ == "__main__":
    main()
