#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs the quickstart's training with PyTorch's usual tools: Pillow, torchvision's transforms and DataLoader workers.
Network, optimizer, schedule and augmentation are the same. Prints the test AUROC of the epoch with the best validation
AUROC.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  /usr/bin/python3 tools/peers/quickstart_torch.py build/quickstart/data --epochs 20
  python tools/peers/quickstart_torch.py build/quickstart/data --loader roentgen --seed 1 --preds ours1.csv

Prints seconds an epoch (training and validation) and, at the end, everything together. --loader roentgen takes batches
of the same images from roentgen.Loader instead (a wheel of this project must be installed). --preds writes the test
set's probabilities, for `roentgen compare`.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import csv
import math
import pathlib
import tempfile
import time

import numpy
import torch
import torchvision
from PIL import Image
from synth_linear_probe import LABELS, auroc
from torchvision.models.resnet import BasicBlock

BATCH, LR, WEIGHT_DECAY, WARMUP_EPOCHS = 32, 2e-3, 1e-4, 0.5


def read_table(folder):
    """(name, patient, labels) of every image."""
    with open(folder / "Data_Entry_2017_v2020.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [(row[0], int(row[3]), [float(label in row[1].split("|")) for label in LABELS]) for row in rows]


class Images(torch.utils.data.Dataset):
    def __init__(self, folder, rows, transform):
        self.folder, self.rows, self.transform = folder, rows, transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        name, _, labels = self.rows[index]
        with Image.open(self.folder / "images" / name) as image:
            return self.transform(image.convert("L")), torch.tensor(labels)


def data_loader(arguments, splits, split):
    """PyTorch's DataLoader with the recipe's augmentation as torchvision transforms."""
    tensor = [torchvision.transforms.Resize(arguments.image), torchvision.transforms.ToTensor(),
              torchvision.transforms.Normalize([0.5], [0.25])]
    augment = [torchvision.transforms.RandomHorizontalFlip(),
               torchvision.transforms.RandomAffine(5, (0.05, 0.05),
                                                   interpolation=torchvision.transforms.InterpolationMode.BILINEAR)]
    is_train = split == "train"
    transform = torchvision.transforms.Compose(augment + tensor if is_train else tensor)
    return torch.utils.data.DataLoader(Images(arguments.data, splits[split], transform), batch_size=BATCH,
                                       shuffle=is_train, drop_last=is_train, num_workers=arguments.workers,
                                       persistent_workers=arguments.workers > 0)


def roentgen_data(scratch, folder, splits):
    """roentgen.Dataset with the same images in the same splits. Writes its label table into the folder `scratch`."""
    import roentgen
    (scratch / "images").symlink_to((folder / "images").resolve())
    with open(scratch / "labels.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "patient", "split", *LABELS])
        for split, rows in splits.items():
            writer.writerows([f"images/{name}", patient, split, *map(int, labels)] for name, patient, labels in rows)
    return roentgen.Dataset(scratch, labels=LABELS)


def roentgen_loader(arguments, data, split):
    import roentgen
    augment = {"flip": 0.5, "rotate": 5, "translate": 0.05} if split == "train" else {}
    return roentgen.Loader(data[split], batch=BATCH, size=arguments.image, seed=arguments.seed, augment=augment,
                           workers=arguments.workers)


def resnet18(width, outputs):
    """torchvision's ResNet-18 with one input channel and another width, initialised as torchvision does."""
    nn = torch.nn
    layers = [nn.Conv2d(1, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)]
    channels = width
    for stage in range(4):
        for block in range(2):
            out, stride = width << stage, 2 if stage and not block else 1
            shortcut = None
            if stride != 1 or channels != out:
                shortcut = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))
            layers.append(BasicBlock(channels, out, stride, shortcut))
            channels = out
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, outputs))
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return model


def predict(model, loader):
    """(scores, labels) of all images, each (N, K)."""
    model.eval()
    with torch.no_grad():
        pairs = [(torch.sigmoid(model(images.to(memory_format=torch.channels_last))).numpy(), labels.numpy())
                 for images, labels in loader]
    model.train()
    return [numpy.concatenate(part) for part in zip(*pairs)]


def mean_auroc(scores, labels):
    return float(numpy.nanmean([auroc(scores[:, i], labels[:, i]) for i in range(labels.shape[1])]))


def rate(step, steps_an_epoch, steps):
    warmup = WARMUP_EPOCHS * steps_an_epoch
    if step < warmup:
        return LR * (step + 1) / warmup
    return LR * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--image", type=int, default=80)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--loader", choices=("dataloader", "roentgen"), default="dataloader")
    parser.add_argument("--preds", type=pathlib.Path, help="csv of the test set's probabilities")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    start = time.perf_counter()
    rows = read_table(arguments.data)
    test_names = set((arguments.data / "test_list.txt").read_text(encoding="utf-8").split())
    rest = [row for row in rows if row[0] not in test_names]
    # Validation uses an eighth of the patients, as recipes do by default.
    splits = {"train": [r for r in rest if r[1] % 8], "val": [r for r in rest if r[1] % 8 == 0],
              "test": [r for r in rows if r[0] in test_names]}
    if arguments.loader == "roentgen":
        scratch = tempfile.TemporaryDirectory()
        data = roentgen_data(pathlib.Path(scratch.name), arguments.data, splits)
        loaders = {split: roentgen_loader(arguments, data, split) for split in splits}
    else:
        loaders = {split: data_loader(arguments, splits, split) for split in splits}
    model = resnet18(32, len(LABELS))
    model = model.to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=LR, weight_decay=WEIGHT_DECAY, foreach=True)
    loss_of = torch.nn.BCEWithLogitsLoss()
    best, step = (0.0, None), 0
    steps_an_epoch = len(loaders["train"])
    for epoch in range(arguments.epochs):
        began = time.perf_counter()
        for images, labels in loaders["train"]:
            for group in optimizer.param_groups:
                group["lr"] = rate(step, steps_an_epoch, steps_an_epoch * arguments.epochs)
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model(images.to(memory_format=torch.channels_last)), labels)
            loss.backward()
            optimizer.step()
            step += 1
        value = mean_auroc(*predict(model, loaders["val"]))
        if value > best[0]:
            best = value, {k: v.clone() for k, v in model.state_dict().items()}
        print(f"epoch {epoch + 1}  loss {loss.item():.4f}  val AUROC {value:.4f}  "
              f"{time.perf_counter() - began:.1f} s", flush=True)
    model.load_state_dict(best[1])
    scores, labels = predict(model, loaders["test"])
    if arguments.preds:
        with open(arguments.preds, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["Image Index", *(f"prob_{label}" for label in LABELS)])
            writer.writerows([row[0], *values] for row, values in zip(splits["test"], scores.tolist(), strict=True))
    print(f"test AUROC {mean_auroc(scores, labels):.4f}  {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
