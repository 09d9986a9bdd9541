#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch on a GPU: training steps and inference, batches already on the card. The peer of tools/gpu/check.sh.

  python3 tools/peers/gpu_torch.py train resnet50:256:bf16:eager densenet121:64:fp16:compile
  python3 tools/peers/gpu_torch.py infer resnet50:1:bf16:graph

A cell is MODEL:BATCH:TYPE:MODE. TYPE: bf16 or fp16 under autocast, or f32 with TF32 products. MODE: eager; graph, the
whole step as one CUDA graph; compile, in training alone: torch.compile, then its whole step as a CUDA graph, two rows.
A training step is forward, loss on 14 labels, backward and SGD with momentum. fp16 scales its loss, except in compile,
which does without to the peer's advantage. Inference folds batch norms into convolutions. Each row is one line of JSON:
median, 10th and 90th percentile of the steps, by CUDA events. With --lock FILE a process waits for that file's lock
before it uses the card, so that others may compile meanwhile.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import fcntl
import gc
import json
import statistics
import time

import torch

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "f32": None}
WARMUP = 8
SECONDS = 2.0


class Card:
    """Exclusive use of the card: a file lock that this process takes once."""

    def __init__(self, path):
        self.path, self.file = path, None

    def take(self):
        if self.path and self.file is None:
            self.file = open(self.path, "w", encoding="ascii")
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def take_before_first_kernel(self):
        """Takes the lock when the first kernel is tuned, because torch.compile first works on the processor only."""
        from torch._inductor.runtime import triton_heuristics
        from torch._functorch import config
        config.force_non_lazy_backward_lowering = True
        run = triton_heuristics.CachingAutotuner.run

        def locked(tuner, *arguments, **named):
            self.take()
            return run(tuner, *arguments, **named)
        triton_heuristics.CachingAutotuner.run = locked


def build(name):
    if name == "inception_v4":
        import timm
        return timm.create_model(name, pretrained=False, num_classes=14)
    import torchvision
    extra = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, name)(num_classes=14, **extra)


def images(name, batch):
    side = 299 if name.startswith("inception") else 224
    return torch.randn(batch, 3, side, side, device="cuda").to(memory_format=torch.channels_last)


def loss_of(output, target):
    heads = [head for head in (output if isinstance(output, tuple) else (output,)) if head is not None]
    losses = [torch.nn.functional.binary_cross_entropy_with_logits(head.float(), target) for head in heads]
    return losses[0] + 0.3 * sum(losses[1:])


def training_step(name, batch, dtype, compiled):
    model = build(name).cuda().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    run = torch.compile(model) if compiled else model
    image, target = images(name, batch), (torch.rand(batch, 14, device="cuda") > 0.9).float()
    scaler = torch.amp.GradScaler("cuda", enabled=dtype == "fp16" and not compiled)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=TYPES[dtype], enabled=TYPES[dtype] is not None):
            loss = loss_of(run(image), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return step


def inference_step(name, batch, dtype):
    from torch.fx.experimental.optimization import fuse
    model = fuse(build(name).eval()).cuda().to(memory_format=torch.channels_last)
    image = images(name, batch)
    if TYPES[dtype] is not None:
        model, image = model.to(TYPES[dtype]), image.to(TYPES[dtype])

    def step():
        with torch.inference_mode():
            model(image)
    return step


def captured(step):
    """Captures the step as one CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def times(step):
    """Milliseconds of each step, measured for about SECONDS."""
    for _ in range(WARMUP):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    torch.cuda.synchronize()
    count = max(10, int(SECONDS / (time.perf_counter() - start)))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    return [first.elapsed_time(second) for first, second in zip(events, events[1:])]


def report(what, cell, mode, step):
    torch.cuda.reset_peak_memory_stats()
    taken = times(step)
    tenths = statistics.quantiles(taken, n=10)
    model, batch, dtype, _ = cell.split(":")
    row = {"program": f"PyTorch {torch.__version__.split('+')[0]}", "what": what, "model": model, "batch": int(batch),
           "dtype": dtype, "mode": mode, "ms": round(statistics.median(taken), 4), "ms_p10": round(tenths[0], 4),
           "ms_p90": round(tenths[-1], 4), "images_per_s": round(int(batch) * 1e3 / statistics.median(taken), 1),
           "peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2)}
    print(json.dumps(row), flush=True)


def measure(what, cell, card):
    model, batch, dtype, mode = cell.split(":")
    torch.manual_seed(1)
    if what == "infer" and mode == "compile":
        raise RuntimeError("inference runs eager or as a graph")
    if mode == "compile":
        card.take_before_first_kernel()
    else:
        card.take()
    if what == "train":
        step = training_step(model, int(batch), dtype, mode == "compile")
    else:
        step = inference_step(model, int(batch), dtype)
    step()
    card.take()
    if mode != "graph":
        report(what, cell, mode, step)
    if mode != "eager":
        report(what, cell, "graph" if mode == "graph" else "compile+graph", captured(step))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "infer"))
    parser.add_argument("cells", nargs="+", metavar="MODEL:BATCH:TYPE:MODE")
    parser.add_argument("--lock", default="", metavar="FILE")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.set_num_threads(4)
    card = Card(options.lock)
    for cell in options.cells:
        try:
            measure(options.what, cell, card)
        except (RuntimeError, ImportError) as error:
            print(json.dumps({"program": "PyTorch", "what": options.what, "cell": cell, "error": str(error)[:300]}),
                  flush=True)
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
