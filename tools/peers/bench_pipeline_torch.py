#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Measures how fast PyTorch makes normalised batches from image files; compare with `roentgen bench pipeline`.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  tools/peers/bench_pipeline_torch.py --data FOLDER --image 224 --batch 16 --threads 2 --warmup 4 --steps 20

DataLoader with shuffling, a worker process for each thread and its usual prefetch of 2 batches a worker. Readers:
Pillow, Resize, ToTensor, Normalize, the usual code; torchvision.io.read_image and an antialiased resize.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import pathlib

import torch
import torchvision
from bench_peer import input_speed, options_of, report
from PIL import Image
from torchvision import transforms

READERS = ("Pillow", "torchvision.io")


class Folder(torch.utils.data.Dataset):
    def __init__(self, folder, size, reader):
        self.files = sorted(str(path) for path in folder.iterdir() if path.suffix.lower() in (".png", ".jpg", ".jpeg"))
        self.reader = reader
        normalise = transforms.Normalize([0.5], [0.25])
        if reader == "Pillow":
            self.transform = transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor(), normalise])
        else:
            self.transform = transforms.Compose([transforms.Resize((size, size), antialias=True),
                                                 transforms.ConvertImageDtype(torch.float32), normalise])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if self.reader == "Pillow":
            with Image.open(self.files[index]) as image:
                return self.transform(image.convert("L"))
        return self.transform(torchvision.io.read_image(self.files[index], torchvision.io.ImageReadMode.GRAY))


def batches(options, reader):
    dataset = Folder(pathlib.Path(options.data), options.image, reader)
    wanted = (options.warmup + options.steps) * options.batch
    sampler = torch.utils.data.RandomSampler(dataset, num_samples=wanted, replacement=wanted > len(dataset))
    return iter(torch.utils.data.DataLoader(dataset, batch_size=options.batch, sampler=sampler,
                                            num_workers=options.threads, drop_last=True))


def main():
    options = options_of(__doc__, data="")
    torch.set_num_threads(1)
    shape = (options.batch, 1, options.image, options.image)
    figures = {f"DataLoader {reader}": input_speed(batches(options, reader), shape, options) for reader in READERS}
    report(f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}", figures)


if __name__ == "__main__":
    main()
