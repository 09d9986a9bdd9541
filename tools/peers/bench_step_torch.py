#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch's training step: forward, loss on 14 labels, backward, SGD with momentum. The peer of `bench step`.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  python3 tools/peers/bench_step_torch.py --model resnet50 --batch 16 --image 224 --threads 2 --json torch.json

Both memory layouts are timed; each as good as PyTorch gets it: foreach optimizer, gradients set to none.
"""
import argparse
import json
import statistics
import time

import torch
import torchvision

LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


def step_seconds(arguments, layout):
    """Seconds of each timed step."""
    torch.manual_seed(1)
    model = getattr(torchvision.models, arguments.model)(num_classes=14).to(memory_format=LAYOUTS[layout]).train()
    shape = (arguments.batch, 3, arguments.image, arguments.image)
    image = torch.randn(shape).to(memory_format=LAYOUTS[layout])
    target = (torch.rand(arguments.batch, 14) > 0.9).float()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    times = []
    for _ in range(arguments.warmup + arguments.steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(image), target)
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    return times[arguments.warmup:]


def summary(seconds, batch):
    ordered = sorted(seconds)
    median = statistics.median(ordered)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"images_per_s": batch / median, "step_ms": {"median": 1e3 * median, "p95": 1e3 * p95}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50", help="any torchvision classifier with num_classes")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--image", type=int, default=224, help="side in pixels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--layout", choices=[*LAYOUTS, "both"], default="both")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    layouts = list(LAYOUTS) if arguments.layout == "both" else [arguments.layout]
    result = {"peer": f"PyTorch {torch.__version__}", "model": arguments.model, "batch": arguments.batch,
              "image": arguments.image, "threads": arguments.threads, "warmup": arguments.warmup,
              "steps": arguments.steps,
              "layouts": {layout: summary(step_seconds(arguments, layout), arguments.batch) for layout in layouts}}
    result["images_per_s"] = max(entry["images_per_s"] for entry in result["layouts"].values())
    result["figures"] = {f"eager, {layout}": entry["images_per_s"] for layout, entry in result["layouts"].items()}
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
