#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch's inference: eval mode on one batch after another. The peer of `bench infer`.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  python3 tools/peers/bench_infer_torch.py --model resnet50 --batch 16 --image 224 --threads 2

Every variant is timed in both memory layouts: `eager` is the module in eval mode; `frozen` is the same module traced,
frozen and put through optimize_for_inference, which folds batch norms and fuses what follows convolutions. With one
thread PyTorch 1.13 computes eager convolutions without oneDNN, ten times slower: compare with two or more.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too

import torch
import torchvision
from bench_peer import median_speed, options_of, report, seconds_of

LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}
INPUTS_OF_INCEPTION = {"transform_input": False, "init_weights": False, "aux_logits": True}


def make_module(name, layout):
    torch.manual_seed(1)
    wanted = {"googlenet": INPUTS_OF_INCEPTION, "inception_v3": INPUTS_OF_INCEPTION}.get(name, {})
    return getattr(torchvision.models, name)(num_classes=14, **wanted).to(memory_format=LAYOUTS[layout]).eval()


def freeze(module, image):
    return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(module, image)))


def main():
    options = options_of(__doc__, model="resnet50")
    torch.set_num_threads(options.threads)
    figures = {}
    with torch.inference_mode():
        for layout, memory_format in LAYOUTS.items():
            image = torch.randn(options.batch, 3, options.image, options.image).to(memory_format=memory_format)
            eager = make_module(options.model, layout)
            for way, module in (("eager", eager), ("frozen", freeze(make_module(options.model, layout), image))):
                seconds = seconds_of(lambda module=module, image=image: module(image), options)
                figures[f"{way}, {layout}"] = median_speed(seconds, options)
    report(f"PyTorch {torch.__version__}", figures)


if __name__ == "__main__":
    main()
