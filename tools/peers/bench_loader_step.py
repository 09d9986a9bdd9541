#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times training steps of torchvision's ResNet-18 (gray, channels last, SGD) in PyTorch on batches of one loader.

  tools/peers/bench_loader_step.py --loader roentgen --case png --work FOLDER --batch 32 --threads 2 --workers 2
  tools/peers/bench_loader_step.py --loader roentgen --case png --work FOLDER --idle
  tools/peers/bench_loader_step.py --loader none --idle

`ms`: mean of the steps, each with its wait for the batch. With --idle all steps take one batch of random values:
`before_ms` is the median step before the loader is imported, `after_ms` the one after it has given a batch, while it
lies idle with batches made ahead; --loader none has no loader in between. --work: a folder of tools/studies/loaders.py.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import copy
import os
import statistics
import sys

import torch
import torchvision
from bench_loaders import LOADERS
from bench_peer import options_of, report, seconds_of

LABELS = 14


def make_step(batches, options):
    """Returns a function that trains on one batch."""
    torch.manual_seed(1)
    model = torchvision.models.resnet18(num_classes=LABELS)
    model.conv1 = torch.nn.Conv2d(1, 64, 7, 2, 3, bias=False)
    model = model.to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    target = (torch.rand(options.batch, LABELS) > 0.9).float()

    def step():
        images = next(batches)
        if tuple(images.shape) != (options.batch, 1, options.image, options.image):
            raise SystemExit(f"expected {options.batch} gray images, got a batch of {tuple(images.shape)}")
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(images), target)
        loss.backward()
        optimizer.step()

    return step


def random_batches(options):
    images = torch.randn(options.batch, 1, options.image, options.image)
    while True:
        yield images


def median_ms(step, options):
    return 1e3 * statistics.median(seconds_of(step, options))


def main():
    options = options_of(__doc__, loader=(*LOADERS, "none"), case=("png", "jpeg", "raw"), work="", batch=32, image=224,
                         threads=2, workers=2, warmup=2, steps=5, first="", idle=False)
    torch.set_num_threads(options.threads)

    def batches_of_loader():
        loader = LOADERS[options.loader]
        return iter(loader.batches(copy.copy(loading), **loader.settings))

    loading = copy.copy(options)
    loading.threads = options.workers  # threads of the loader
    if options.idle:
        step = make_step(random_batches(options), options)
        figures = {"before_ms": median_ms(step, options)}
        batches = None if options.loader == "none" else batches_of_loader()
        if batches:
            next(batches)
        figures["after_ms"] = median_ms(step, options)
    else:
        figures = {"ms": 1e3 * statistics.fmean(seconds_of(make_step(batches_of_loader(), options), options))}
    report(f"PyTorch {torch.__version__}", figures)
    sys.stdout.flush()
    os._exit(0)  # skips the clean-up, which would wait for endless batches


if __name__ == "__main__":
    main()
