#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/models.csv: what torchvision's models consist of (Debian: python3-torchvision 0.14).

  /usr/bin/python3 tools/peers/models_golden.py tests/golden/models.csv
  /usr/bin/python3 tools/peers/models_golden.py --list resnet50     # prints the tensors, to look at a difference

`names` is FNV-1a (64 bits) over "name:d0xd1x...;" of the state dict's tensors in order, without num_batches_tracked.
Multiply-adds are those of convolutions and linear layers for one image. Variants: `v1` moves the stride of a bottleneck
into its first 1x1 convolution; `small` has a 3x3 convolution of stride 1 and no pooling at the start; `dilatedK`: the
last K stages dilate instead of halving the image (ResNets with bottlenecks: replace_stride_with_dilation); `bare` has
no auxiliary classifiers, whose arithmetic is not counted anyway. Inception-v4 is timm's.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import sys

import parity_formula
import torch
import torchvision

NAMES = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "densenet121", "densenet169", "densenet201",
         "vgg16", "vgg16_bn", "vgg19", "vgg19_bn", "googlenet", "inception_v3", "inception_v4"]
# Name of the first convolution in each family.
FIRST = {"resnet": "conv1", "densenet": "features.conv0", "vgg": "features.0", "googlenet": "conv1.conv",
         "inception_v3": "Conv2d_1a_3x3.conv", "inception_v4": "features.0.conv"}


def build(name, variant, outputs, channels):
    family = next(prefix for prefix in FIRST if name.startswith(prefix))
    is_resnet = family == "resnet"
    dilated = int(variant.removeprefix("dilated")) if variant.startswith("dilated") else 0
    settings = {"replace_stride_with_dilation": [i >= 3 - dilated for i in range(3)]} if dilated and is_resnet else {}
    if name in ("googlenet", "inception_v3"):
        settings = {"aux_logits": variant != "bare", "init_weights": False}
    if name == "inception_v4":
        import timm  # pip install --no-deps timm==0.6.13 huggingface_hub==0.16.4 safetensors==0.3.3
        model = timm.create_model(name, num_classes=outputs).eval()
    else:
        model = getattr(torchvision.models, name)(weights=None, num_classes=outputs, **settings).eval()
    if dilated and not is_resnet:
        dilate_densenet(model.features, dilated)
    path, _, leaf = FIRST[family].rpartition(".")
    parent = model.get_submodule(path)
    first = getattr(parent, leaf)
    if variant == "small":
        setattr(parent, leaf, torch.nn.Conv2d(channels, first.out_channels, 3, 1, 1, bias=False))
        setattr(parent, "maxpool" if is_resnet else "pool0", torch.nn.Identity())
    else:
        setattr(parent, leaf, torch.nn.Conv2d(channels, first.out_channels, first.kernel_size, first.stride,
                                              first.padding, bias=first.bias is not None))
    if variant == "v1":
        for module in model.modules():
            if isinstance(module, torchvision.models.resnet.Bottleneck):
                module.conv1.stride, module.conv2.stride = module.conv2.stride, (1, 1)
    return model


def dilate_densenet(features, stages):
    for block in range(5 - stages, 5):
        getattr(features, f"transition{block - 1}").pool = torch.nn.Identity()
        dilation = 2 ** (block - 4 + stages)
        for module in getattr(features, f"denseblock{block}").modules():
            if isinstance(module, torch.nn.Conv2d) and module.kernel_size == (3, 3):
                module.dilation = module.padding = (dilation, dilation)


def tensors(model):
    return [(k, v) for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")]


def described(model):
    return "".join(f"{name}:{'x'.join(map(str, value.shape))};" for name, value in tensors(model))


def multiply_adds(model, channels, image_px):
    total = 0

    def count(module, _, output):
        nonlocal total
        inputs = module.weight[0].numel()
        total += inputs * output.numel()

    hooks = [m.register_forward_hook(count) for m in model.modules()
             if isinstance(m, (torch.nn.Conv2d, torch.nn.Linear))]
    with torch.no_grad():
        model(torch.zeros(1, channels, image_px, image_px))
    for hook in hooks:
        hook.remove()
    return total


def rows():
    for name in NAMES:
        if name.startswith("inception"):
            yield from inception_rows(name)
            continue
        yield name, "plain", 1000, 3, 224
        yield name, "plain", 14, 3, 224
        yield name, "plain", 14, 1, 32
        yield name, "plain", 2, 1, 97
        if name.startswith(("resnet", "densenet")):
            yield name, "small", 5, 1, 32
        if name.startswith("resnet"):
            yield name, "v1", 14, 3, 224
        if name in ("resnet50", "densenet121"):
            yield name, "dilated1", 14, 1, 160
            yield name, "dilated2", 14, 1, 97
        if name == "densenet121":
            yield name, "dilated3", 14, 1, 64
        if name == "googlenet":
            yield name, "bare", 14, 1, 224


def inception_rows(name):
    yield name, "plain", 1000, 3, 299
    yield name, "plain", 14, 1, 320
    small = "bare" if name == "inception_v3" else "plain"  # its auxiliary classifier needs 299 px
    yield name, small, 14, 1, 75
    yield name, small, 2, 3, 224


def main():
    if sys.argv[1] == "--list":
        print(described(build(sys.argv[2], "plain", 1000, 3)).replace(";", "\n"), end="")
        return
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write(f"# made by tools/peers/models_golden.py with torchvision {torchvision.__version__}\n")
        out.write("model,variant,outputs,channels,image_px,parameters,trained_tensors,tensors,names,multiply_adds\n")
        for name, variant, outputs, channels, image_px in rows():
            model = build(name, variant, outputs, channels)
            parameters = list(model.parameters())
            out.write(f"{name},{variant},{outputs},{channels},{image_px},{sum(p.numel() for p in parameters)},"
                      f"{len(parameters)},{len(tensors(model))},{parity_formula.key(described(model)):016x},"
                      f"{multiply_adds(model, channels, image_px)}\n")


if __name__ == "__main__":
    main()
