# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Lightning's fit over our Loader; skipped where lightning is not installed (pip install lightning)."""
import warnings

import pytest

import roentgen

torch = pytest.importorskip("torch")
lightning = pytest.importorskip("lightning")


class Network(lightning.LightningModule):
    """One linear layer, and the images and labels that it was given."""

    def __init__(self, labels):
        super().__init__()
        self.layer = torch.nn.Linear(32 * 32, labels)
        self.images = {"train": 0, "val": 0}
        self.losses = []

    def _loss(self, batch, part):
        images, labels = batch
        self.images[part] += len(images)
        known = ~labels.isnan()
        logits = self.layer(images.flatten(1))
        return torch.nn.functional.binary_cross_entropy_with_logits(logits[known], labels[known])

    def training_step(self, batch, number):
        loss = self._loss(batch, "train")
        self.losses.append(float(loss.detach()))
        return loss

    def validation_step(self, batch, number):
        self.log("val_loss", self._loss(batch, "val"), batch_size=len(batch[0]))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def loaders(data):
    return [roentgen.Loader(data[split], batch=16, size=32, workers=1, framework="torch") for split in ("train", "val")]


def fit(network, folder, train, val, epochs, **options):
    trainer = lightning.Trainer(max_epochs=epochs, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False,
                                enable_model_summary=False, num_sanity_val_steps=1, default_root_dir=folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Lightning's hints on its own DataLoader
        trainer.fit(network, train, val, **options)
    return trainer


def test_fit_takes_every_image_of_every_epoch(data, tmp_path):
    train, val = loaders(data)
    network = Network(len(data.labels))
    trainer = fit(network, tmp_path, train, val, epochs=3)
    assert trainer.global_step == 3 * len(train) and train.epoch == 3
    assert network.images["train"] == 3 * 16 * len(train)
    assert network.images["val"] == (1 + 3) * len(data["val"])  # all in a batch, which Lightning checks before
    assert sum(network.losses[-len(train):]) < sum(network.losses[:len(train)])
    assert float(trainer.callback_metrics["val_loss"]) > 0


def test_fit_gives_the_losses_of_a_plain_loop(data, tmp_path):
    torch.manual_seed(1)
    network = Network(len(data.labels))
    plain = Network(len(data.labels))
    plain.load_state_dict(network.state_dict())
    fit(network, tmp_path, *loaders(data), epochs=2)
    train, _ = loaders(data)
    optimizer = plain.configure_optimizers()
    for _ in range(2):
        for batch in train:
            loss = plain.training_step(batch, 0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert plain.losses == network.losses


def test_fit_of_a_stored_run_goes_on_with_the_next_epoch(data, tmp_path):
    train, val = loaders(data)
    whole = Network(len(data.labels))
    torch.manual_seed(1)
    torch.nn.init.normal_(whole.layer.weight, std=0.01)
    first = Network(len(data.labels))
    first.load_state_dict(whole.state_dict())
    fit(whole, tmp_path / "whole", train, val, epochs=2)
    train, val = loaders(data)
    fit(first, tmp_path / "first", train, val, epochs=1).save_checkpoint(tmp_path / "one.ckpt")
    train, val = loaders(data)
    train.set_epoch(1)
    second = Network(len(data.labels))
    fit(second, tmp_path / "second", train, val, epochs=2, ckpt_path=tmp_path / "one.ckpt")
    assert first.losses + second.losses == whole.losses
