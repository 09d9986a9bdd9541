#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Compares roentgen.load() of PyTorch's files with PyTorch: random networks and the same uint8 images must give the same
logits.

  python3 -m venv venv && venv/bin/pip install torch torchvision ROENTGEN.whl
  venv/bin/python tools/peers/weights_torchvision.py resnet18 densenet121 torchxrayvision

Prints the largest difference of logits of each file, as a share of the largest logit, and fails beyond 1e-4. Batch norms
get running statistics of noise, so that values stay in range. Files: a state dict and a whole model, in both containers
of torch.save; a copy with the names of DenseNet's old files; `convert-weights` of one. "torchxrayvision" is its DenseNet
with op_threshs, fed as that library feeds it.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision

import roentgen

MOST = 1e-4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def network_of(name):
    """Network with random weights and with running statistics from random noise."""
    torch.manual_seed(0)
    if name == "torchxrayvision":
        import torchxrayvision
        network, noise = torchxrayvision.models.DenseNet(op_threshs=torch.full((18,), 0.3)), torch.randn(4, 1, 224, 224)
    else:
        network, noise = getattr(torchvision.models, name)(num_classes=7), torch.randn(4, 3, 224, 224)
    network.train()
    with torch.no_grad():
        for _ in range(4):
            network.features(500 * noise) if noise.shape[1] == 1 else network(noise)
    return network.eval()


def pictures(name):
    shape = (4, 224, 224) if name == "torchxrayvision" else (4, 224, 224, 3)
    return numpy.random.default_rng(0).integers(0, 256, shape, dtype=numpy.uint8)


def probabilities_of(network, images):
    """Sigmoids, as roentgen returns them unless there are 1,000 outputs; for torchxrayvision before its calibration."""
    x = torch.from_numpy(images).float() / 255
    with torch.no_grad():
        if images.ndim == 3:
            features = network.features((2 * x[:, None] - 1) * 1024)
            logits = network.classifier(torch.relu(features).mean((2, 3)))
        else:
            x = x.permute(0, 3, 1, 2) - torch.tensor(MEAN)[:, None, None]
            logits = network(x / torch.tensor(STD)[:, None, None])
    return torch.sigmoid(logits.double()).numpy()


def difference(expected, got):
    """Largest difference of logits, relative to the largest expected logit."""
    logits = [numpy.log(p / (1 - p)) for p in (expected, got.astype(numpy.float64))]
    return float(numpy.abs(logits[0] - logits[1]).max() / numpy.abs(logits[0]).max())


def old_names(state):
    """Parameter names of DenseNet before torchvision 0.3."""
    return {re.sub(r"(denselayer\d+\.(?:norm|conv))(\d)\.", r"\1.\2.", name): value for name, value in state.items()}


def files_of(network, folder):
    """Writes the network in every file format."""
    state = network.state_dict()
    contents = {"state.pth": state, "training.pt": {"epoch": 1, "state_dict": state}, "whole.pt": network,
                "parallel.pth": {f"module.{name}": value for name, value in state.items()}, "old.pth": old_names(state)}
    for name, content in contents.items():
        for is_zip in (True, False):
            path = folder / f"{'' if is_zip else 'legacy_'}{name}"
            torch.save(content, path, _use_new_zipfile_serialization=is_zip)
            yield path
    path = folder / "converted.safetensors"
    subprocess.run([sys.executable, "-m", "roentgen", "convert-weights", folder / "state.pth", path], check=True,
                   capture_output=True)
    yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="torchvision's networks, or torchxrayvision")
    options = parser.parse_args()
    worst = 0.0
    for name in options.networks:
        network, images = network_of(name), pictures(name)
        expected = probabilities_of(network, images)
        with tempfile.TemporaryDirectory() as folder:
            for path in files_of(network, pathlib.Path(folder)):
                got = roentgen.load(path).predict(images).to_numpy()
                worst = max(worst, difference(expected, got))
                print(f"{name},{path.name},{difference(expected, got):.2e}", flush=True)
    if not worst <= MOST:
        sys.exit(f"[peers.weights_torchvision] logits: expected differences up to {MOST}, got {worst:.2e}; try --help")


if __name__ == "__main__":
    main()
