#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Times PyTorch's way from image files to normalised batches, as `roentgen bench pipeline` does ours.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  tools/peers/bench_pipeline_torch.py --data FOLDER --image 224 --batch 16 --workers 2 --reader pil --json torch.json

DataLoader with shuffling, worker processes and its usual prefetch of 2 batches a worker. Readers: pil = Pillow, Resize,
ToTensor, Normalize, as everybody writes it; io = torchvision.io.read_image and an antialiased resize of the tensor.
"""
import one_line_errors  # noqa: F401  first: errors of the other imports, too
import argparse
import json
import pathlib
import statistics
import time

import torch
import torchvision
from PIL import Image
from torchvision import transforms


class Folder(torch.utils.data.Dataset):
    def __init__(self, folder, size, reader):
        self.files = sorted(str(path) for path in folder.iterdir() if path.suffix.lower() in (".png", ".jpg", ".jpeg"))
        self.reader = reader
        normalise = transforms.Normalize([0.5], [0.25])
        if reader == "pil":
            self.transform = transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor(), normalise])
        else:
            self.transform = transforms.Compose([transforms.Resize((size, size), antialias=True),
                                                 transforms.ConvertImageDtype(torch.float32), normalise])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if self.reader == "pil":
            with Image.open(self.files[index]) as image:
                return self.transform(image.convert("L"))
        return self.transform(torchvision.io.read_image(self.files[index], torchvision.io.ImageReadMode.GRAY))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--reader", choices=("pil", "io"), default="pil")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dataset = Folder(options.data, options.image, options.reader)
    wanted = (options.warmup + options.steps) * options.batch
    sampler = torch.utils.data.RandomSampler(dataset, num_samples=wanted, replacement=wanted > len(dataset))
    loader = torch.utils.data.DataLoader(dataset, batch_size=options.batch, sampler=sampler,
                                         num_workers=options.workers, drop_last=True)
    times = [time.perf_counter()]
    for batch in loader:
        if tuple(batch.shape) != (options.batch, 1, options.image, options.image):
            raise SystemExit(f"a batch of shape {tuple(batch.shape)}")
        times.append(time.perf_counter())
    steps = [after - before for before, after in zip(times[options.warmup:], times[options.warmup + 1:])]
    result = {"peer": f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}", "reader": options.reader,
              "images_per_s": options.batch * len(steps) / sum(steps), "batch_ms": 1e3 * statistics.median(steps)}
    print(json.dumps(result))
    if options.json:
        options.json.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
