#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch's training step: forward, loss on 14 labels, backward, SGD with momentum. The peer of `bench step`.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  python3 tools/peers/bench_step_torch.py --model resnet50 --batch 16 --image 224 --threads 2 --json torch.json

Both memory layouts are timed; each as good as PyTorch gets it: foreach optimizer, gradients set to none. Each runs in
a process of its own, so that its memory can be told: how far the resident memory grew from before the first step to its
peak, with and without gradients and momentum, which any trainer has. --dtype bf16 computes the forward under autocast;
--compile takes the model through torch.compile (PyTorch 2). Auxiliary classifiers count with a weight of 0.3.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import multiprocessing
import re
import statistics
import time

import torch
import torchvision

LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


def resident_bytes(field):
    """VmRSS or VmHWM of this process."""
    with open("/proc/self/status", encoding="ascii") as file:
        return 1024 * int(re.search(rf"^{field}:\s+(\d+) kB", file.read(), re.MULTILINE).group(1))


def loss_of(output, target):
    heads = [head for head in (output if isinstance(output, tuple) else (output,)) if head is not None]
    losses = [torch.nn.functional.binary_cross_entropy_with_logits(head.float(), target) for head in heads]
    return losses[0] + 0.3 * sum(losses[1:])


def make_model(arguments, layout):
    extra = {"init_weights": False} if arguments.model in ("googlenet", "inception_v3") else {}
    model = getattr(torchvision.models, arguments.model)(num_classes=14, **extra)
    model = model.to(memory_format=LAYOUTS[layout]).train()
    return torch.compile(model) if arguments.compile else model


def measure(arguments, layout):
    """Seconds of each timed step, and how far resident memory grew; for a process of its own."""
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    model = make_model(arguments, layout)
    shape = (arguments.batch, 3, arguments.image, arguments.image)
    image = torch.randn(shape).to(memory_format=LAYOUTS[layout])
    target = (torch.rand(arguments.batch, 14) > 0.9).float()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    times = []
    before_bytes = resident_bytes("VmRSS")
    for _ in range(arguments.warmup + arguments.steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.dtype == "bf16"):
            output = model(image)
        loss_of(output, target).backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    kept = [tensor for group in optimizer.param_groups for parameter in group["params"]
            for tensor in (parameter.grad, optimizer.state[parameter]["momentum_buffer"])]
    growth_bytes = resident_bytes("VmHWM") - before_bytes
    return {"seconds": times[arguments.warmup:],
            "memory": {"growth_bytes": growth_bytes,
                       "activation_bytes": growth_bytes - sum(t.numel() * t.element_size() for t in kept)}}


def summary(measured, batch):
    seconds = measured["seconds"]
    ordered = sorted(seconds)
    median = statistics.median(ordered)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"images_per_s": batch / median, "step_ms": {"median": 1e3 * median, "p95": 1e3 * p95},
            "memory": measured["memory"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50", help="any torchvision classifier with num_classes")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image", type=int, default=224, help="side in pixels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--layout", choices=[*LAYOUTS, "both"], default="both")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    layouts = list(LAYOUTS) if arguments.layout == "both" else [arguments.layout]
    # "spawn": a fork would begin with this process's memory.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = {layout: pool.apply(measure, (arguments, layout)) for layout in layouts}
    result = {"peer": f"PyTorch {torch.__version__}", "model": arguments.model, "batch": arguments.batch,
              "image": arguments.image, "threads": arguments.threads, "warmup": arguments.warmup,
              "steps": arguments.steps,
              "layouts": {layout: summary(measured[layout], arguments.batch) for layout in layouts}}
    result["images_per_s"] = max(entry["images_per_s"] for entry in result["layouts"].values())
    result["activation_bytes"] = min(entry["memory"]["activation_bytes"] for entry in result["layouts"].values())
    way = ("compile" if arguments.compile else "eager") + (", bf16" if arguments.dtype == "bf16" else "")
    result["figures"] = {f"{way}, {layout}": entry["images_per_s"] for layout, entry in result["layouts"].items()}
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
