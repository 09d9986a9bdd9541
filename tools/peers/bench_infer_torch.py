#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch's inference: eval mode on one batch after another. The peer of `bench infer`.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  python3 tools/peers/bench_infer_torch.py --model resnet50 --batch 1,16 --image 224 --threads 2 --json torch.json

Every way is timed in both memory layouts: `eager` is the module in eval mode; `frozen` is the same module traced,
frozen and put through optimize_for_inference, which folds batch norms and fuses what follows convolutions. The ways take
turns, `--rounds` times, since the speed of a machine drifts.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import statistics
import time

import torch
import torchvision

LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}
INPUTS_OF_INCEPTION = {"transform_input": False, "init_weights": False, "aux_logits": True}


def make_module(name, layout):
    torch.manual_seed(1)
    wanted = {"googlenet": INPUTS_OF_INCEPTION, "inception_v3": INPUTS_OF_INCEPTION}.get(name, {})
    return getattr(torchvision.models, name)(num_classes=14, **wanted).to(memory_format=LAYOUTS[layout]).eval()


def freeze(module, image):
    return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(module, image)))


def run_seconds(module, image, warmup, runs):
    times = []
    for _ in range(warmup + runs):
        start = time.perf_counter()
        module(image)
        times.append(time.perf_counter() - start)
    return times[warmup:]


def summary(seconds, batch):
    """Latencies by nearest rank, and images/s by the median."""
    ordered = sorted(seconds)
    at = lambda share: 1e3 * ordered[max(0, -(-share * len(ordered) // 100) - 1)]
    median = statistics.median(ordered)
    return {"images_per_s": batch / median, "latency_ms": {"best": 1e3 * ordered[0], "p50": 1e3 * median, "p95": at(95), "p99": at(99)}}


def measure(arguments, batch):
    """{way: {layout: summary}} of one batch size."""
    arms = {}
    for layout, memory_format in LAYOUTS.items():
        image = torch.randn(batch, 3, arguments.image, arguments.image).to(memory_format=memory_format)
        module = make_module(arguments.model, layout)
        arms["eager", layout] = (module, image)
        arms["frozen", layout] = (freeze(module, image), image)
    seconds = {arm: [] for arm in arms}
    for index in range(arguments.rounds):
        for arm in list(arms)[::1 if index % 2 == 0 else -1]:
            seconds[arm] += run_seconds(*arms[arm], arguments.warmup, arguments.steps)
    ways = {}
    for (way, layout), times in seconds.items():
        ways.setdefault(way, {})[layout] = summary(times, batch)
    return ways


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50", help="any torchvision classifier with num_classes")
    parser.add_argument("--batch", default="1,16", help="batch sizes, with commas between them")
    parser.add_argument("--image", type=int, default=224, help="side in pixels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10, help="runs measured of a way in a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    result = {"peer": f"PyTorch {torch.__version__}", "model": arguments.model, "image": arguments.image,
              "threads": arguments.threads, "batches": []}
    with torch.inference_mode():
        for batch in map(int, arguments.batch.split(",")):
            result["batches"].append({"batch": batch, "ways": measure(arguments, batch)})
    if len(result["batches"]) == 1:
        result["figures"] = {f"{way}, {layout}": entry["images_per_s"]
                             for way, layouts in result["batches"][0]["ways"].items() for layout, entry in layouts.items()}
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
