#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch's training step: forward, loss on 14 labels, backward, SGD with momentum. The peer of `bench step`.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  python3 tools/peers/bench_step_torch.py --model resnet50 --batch 16 --image 224 --threads 2

Both memory layouts are timed with PyTorch's fastest settings: foreach optimizer, gradients set to none. Each layout runs
in its own process, so that its memory can be measured: the growth of resident memory from before the first step to its
peak, without gradients and momentum. `activation_bytes` is the value of the layout that needs less. --dtype bf16
computes the forward under autocast; --compile takes the model through torch.compile (PyTorch 2). Auxiliary classifiers
count with a weight of 0.3.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import multiprocessing
import re

import torch
import torchvision
from bench_peer import median_speed, options_of, report, seconds_of

LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


def resident_bytes(field):
    """Resident memory of this process, VmRSS (now) or VmHWM (peak), in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return 1024 * int(re.search(rf"^{field}:\s+(\d+) kB", file.read(), re.MULTILINE).group(1))


def loss_of(output, target):
    heads = [head for head in (output if isinstance(output, tuple) else (output,)) if head is not None]
    losses = [torch.nn.functional.binary_cross_entropy_with_logits(head.float(), target) for head in heads]
    return losses[0] + 0.3 * sum(losses[1:])


def make_model(options, layout):
    extra = {"init_weights": False} if options.model in ("googlenet", "inception_v3") else {}
    model = getattr(torchvision.models, options.model)(num_classes=14, **extra)
    model = model.to(memory_format=LAYOUTS[layout]).train()
    return torch.compile(model) if options.compile else model


def measure(options, layout):
    """Images/s and bytes of activations; runs in its own process."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model = make_model(options, layout)
    shape = (options.batch, 3, options.image, options.image)
    image = torch.randn(shape).to(memory_format=LAYOUTS[layout])
    target = (torch.rand(options.batch, 14) > 0.9).float()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.dtype == "bf16"):
            output = model(image)
        loss_of(output, target).backward()
        optimizer.step()

    before_bytes = resident_bytes("VmRSS")
    seconds = seconds_of(step, options)
    kept = [tensor for group in optimizer.param_groups for parameter in group["params"]
            for tensor in (parameter.grad, optimizer.state[parameter]["momentum_buffer"])]
    kept_bytes = sum(tensor.numel() * tensor.element_size() for tensor in kept)
    return median_speed(seconds, options), resident_bytes("VmHWM") - before_bytes - kept_bytes


def main():
    options = options_of(__doc__, model="resnet50", dtype=("f32", "bf16"), compile=False)
    # "spawn" starts an empty process; a fork would begin with this process's memory.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = {layout: pool.apply(measure, (options, layout)) for layout in LAYOUTS}
    way = ("compile" if options.compile else "eager") + (", bf16" if options.dtype == "bf16" else "")
    report(f"PyTorch {torch.__version__}", {f"{way}, {layout}": speed for layout, (speed, _) in measured.items()},
           activation_bytes=min(growth_bytes for _, growth_bytes in measured.values()))


if __name__ == "__main__":
    main()
