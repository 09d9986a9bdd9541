#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Writes tests/golden/parity/*.json: what PyTorch computes in float64, and how far its own float32 is from that.

  apt-get install python3-torch python3-torchvision     # Debian 12: 1.13
  pip install --no-deps timm==0.6.13 huggingface_hub==0.16.4 safetensors==0.3.3     # for inception_v4 alone
  python3 tools/peers/parity_golden.py tests/golden/parity [CASE ...]

Weights and batches come from closed formulas (parity_formula.py), so a file holds results alone. Gradients and running
statistics are kept as norms and projections. `float32` holds, for PyTorch's two layouts, the errors against float64,
estimated by the very same projections that the C++ tests use: they are the yardstick of tests/parity.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import argparse
import json
import pathlib
import statistics

import numpy as np
import torch
import torchvision
from graph_torch import GraphModule
from torch.nn import functional

import parity_formula as formula

LABELS = 14
RUNNING_PROJECTIONS = 8
ZERO_NORM = 1e-9
LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


def fill(model):
    """Loads the formula's float32 values into every parameter and running statistic."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if not name.endswith("num_batches_tracked"):
                tensor.copy_(torch.from_numpy(formula.parameter(name, tuple(tensor.shape))))


def make(build, dtype, layout):
    model = build()
    fill(model)
    return model.to(dtype).to(memory_format=LAYOUTS[layout])


def feed(index, shape, dtype, layout):
    image, target, mask = (torch.from_numpy(a).to(dtype) for a in formula.batch(index, shape, LABELS))
    return image.to(memory_format=LAYOUTS[layout]), target, mask


def masked_loss(logits, target, mask):
    """Sum of the sigmoid cross-entropy over known labels, divided by their number."""
    return (functional.binary_cross_entropy_with_logits(logits, target, reduction="none") * mask).sum() / mask.sum()


def heads(output):
    """Logits of the network, and those of its auxiliary classifiers."""
    return (output[0], output[1:]) if isinstance(output, tuple) else (output, ())


def without_dropout(model):
    """Disables dropout, because no two programs draw the same masks."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model


def vgg(last, width, has_norms):
    """VGG-16 (`last` stages of three) or VGG-19 (four) for one channel with `width` of 64 channels everywhere: their
    linear layers alone hold 120 million weights."""
    factor = width / 64
    stages = [64, 64, "M", 128, 128, "M", *[256] * last, "M", *[512] * last, "M", *[512] * last, "M"]
    scaled = [stage if stage == "M" else int(stage * factor) for stage in stages]
    model = torchvision.models.VGG(torchvision.models.vgg.make_layers(scaled, batch_norm=has_norms),
                                   num_classes=LABELS, init_weights=False, dropout=0.0)
    hidden = int(4096 * factor)
    first = model.features[0]
    model.features[0] = torch.nn.Conv2d(1, first.out_channels, 3, padding=1)
    model.classifier[0] = torch.nn.Linear(scaled[-2] * 7 * 7, hidden)
    model.classifier[3] = torch.nn.Linear(hidden, hidden)
    model.classifier[6] = torch.nn.Linear(hidden, LABELS)
    return model


def inception_v4():
    import timm  # pylint: disable=import-outside-toplevel
    return timm.create_model("inception_v4", num_classes=LABELS)


def training_pass(build, spec, batch, dtype, layout, is_bf16=False):
    """One forward and backward in training mode: logits, loss, projected gradients and running statistics.

    `is_bf16`: the forward under autocast."""
    model = make(build, dtype, layout).train()
    image, target, mask = feed(batch, spec["shape"], dtype, layout)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_bf16):
        logits, auxiliary = heads(model(image))
    loss = masked_loss(logits.to(dtype), target, mask)
    for other in auxiliary:
        loss = loss + spec["auxiliary_weight"] * masked_loss(other.to(dtype), target, mask)
    loss.backward()
    tensors = {name: p.grad for name, p in model.named_parameters()}
    running = {name: b for name, b in model.named_buffers() if not name.endswith("num_batches_tracked")}
    return {"logits": logits.detach().double().numpy().reshape(-1), "loss": float(loss),
            "gradients": summarise(tensors, spec["projections"]), "running": summarise(running, RUNNING_PROJECTIONS)}


def inference_pass(build, spec, dtype, layout):
    model = make(build, dtype, layout).eval()
    image, target, mask = feed(0, spec["shape"], dtype, layout)
    with torch.no_grad():
        logits = model(image)
    return {"logits": logits.double().numpy().reshape(-1), "loss": float(masked_loss(logits, target, mask))}


def summarise(tensors, count):
    """Summary of tensors as {name: [norm, projections ...]}."""
    result = {}
    for name, tensor in tensors.items():
        plain = tensor.detach().contiguous().double().numpy()
        result[name] = np.concatenate(([(plain**2).sum() ** 0.5], formula.project(name, plain, count)))
    return result


def errors(ours, golden):
    """Estimated relative L2 error of every tensor; absolute where it is zero but for rounding (a bias before a norm)."""
    return {name: float(((ours[name][1:] - g[1:]) ** 2).mean() ** 0.5 / (g[0] if g[0] > ZERO_NORM else 1.0))
            for name, g in golden.items()}


def distance(ours, golden):
    return float(abs(ours["logits"] - golden["logits"]).max())


def training_errors(pairs):
    """Errors of training passes beside golden ones, a pair for each batch: of every gradient, the root mean square over
    the batches; of logits and of the loss, the largest."""
    squares = {name: 0.0 for name in pairs[0][1]["gradients"]}
    for ours, golden in pairs:
        for name, error in errors(ours["gradients"], golden["gradients"]).items():
            squares[name] += error**2 / len(pairs)
    return ({name: square**0.5 for name, square in squares.items()}, max(distance(*pair) for pair in pairs),
            max(abs(ours["loss"] - golden["loss"]) for ours, golden in pairs))


def model_case(build, spec):
    """Results of training on each batch, and of inference on the first one."""
    golden = [training_pass(build, spec, b, torch.float64, "nchw") for b in range(spec["batches"])]
    inference = inference_pass(build, spec, torch.float64, "nchw")
    yardstick = {}
    for layout in LAYOUTS:
        passes = [training_pass(build, spec, b, torch.float32, layout) for b in range(spec["batches"])]
        gradients, logits, loss = training_errors(list(zip(passes, golden)))
        yardstick[layout] = {
            "logits_max_abs": logits, "loss_max_abs": loss,
            "running_max": max(errors(passes[0]["running"], golden[0]["running"]).values(), default=0.0),
            "inference_logits_max_abs": distance(inference_pass(build, spec, torch.float32, layout), inference),
            "gradient_median": statistics.median(gradients.values()), "gradient_max": max(gradients.values())}
        if "graph" in spec:
            yardstick[layout]["gradients"] = gradients
    running = golden[0]["running"]
    return {"float32": yardstick, "inference": inference,
            "gradient_names": list(golden[0]["gradients"]), "running_names": list(running),
            "running": list(running.values()),
            "training": [{"loss": g["loss"], "logits": g["logits"], "gradients": list(g["gradients"].values())}
                         for g in golden]}


def descent(build, spec, dtype, layout):
    """Losses of plain gradient descent that uses the batches in turn."""
    model = make(build, dtype, layout).train()
    losses = []
    for step in range(spec["steps"]):
        image, target, mask = feed(step % spec["batches"], spec["shape"], dtype, layout)
        model.zero_grad()
        loss = masked_loss(model(image), target, mask)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= spec["learning_rate"] * parameter.grad
        losses.append(float(loss))
    return losses


def descent_case(build, spec):
    return {"float64": descent(build, spec, torch.float64, "nchw"),
            "float32": {layout: descent(build, spec, torch.float32, layout) for layout in LAYOUTS}}


def formula_case(_build, _spec):
    """A few values of the formulas, so that a mistake in their C++ version is not blamed on the engine."""
    image, target, mask = formula.batch(1, (2, 1, 16, 16), 3)
    names = {"a.weight": (4, 2, 3, 3), "b.weight": (3, 5), "b.bias": (3,), "c.weight": (4,), "c.running_var": (4,)}
    values = {name: formula.parameter(name, shape) for name, shape in names.items()}
    mixed = int(formula.mix(formula.key("a"), np.array([5]))[0])
    return {"key": f"{formula.key('conv1.weight'):016x}", "mix": f"{mixed:016x}",
            "parameters": {name: v.astype(np.float64).reshape(-1) for name, v in values.items()},
            "image": image.astype(np.float64).reshape(-1)[::37], "target": target.reshape(-1), "mask": mask.reshape(-1),
            "projections": formula.project("a.weight", values["a.weight"], 64)}


def cases(folder):
    """Golden networks as {name: (function, builder, specification)}."""
    small = {"shape": [16, 3, 64, 64], "projections": 8, "batches": 3}
    large = {"shape": [16, 3, 224, 224], "projections": 24, "batches": 1}
    models = {name: (lambda f=getattr(torchvision.models, name): f(num_classes=LABELS))
              for name in ("resnet18", "resnet50", "densenet121")}
    for name in ("googlenet", "inception_v3"):
        models[name] = lambda f=getattr(torchvision.models, name): without_dropout(
            f(num_classes=LABELS, init_weights=False))
    width = 16
    vggs = {"width": width, "shape": [8, 1, 64, 64], "projections": 8, "batches": 3}
    text = (folder / "smooth.graph").read_text()
    smooth = {"shape": [8, 3, 32, 32], "projections": 24, "batches": 6}
    curve = {"shape": [8, 3, 64, 64], "batches": 3, "steps": 30, "learning_rate": 1e-3}
    return {
        "resnet50_64px": (model_case, models["resnet50"], {"model": "resnet50", **small}),
        "densenet121_64px": (model_case, models["densenet121"], {"model": "densenet121", **small}),
        "resnet50_224px": (model_case, models["resnet50"], {"model": "resnet50", **large}),
        "densenet121_224px": (model_case, models["densenet121"], {"model": "densenet121", **large}),
        "vgg16_64px": (model_case, lambda: vgg(3, width, False), {"model": "vgg16", **vggs}),
        "vgg16_bn_64px": (model_case, lambda: vgg(3, width, True), {"model": "vgg16_bn", **vggs}),
        "vgg19_64px": (model_case, lambda: vgg(4, width, False), {"model": "vgg19", **vggs}),
        "vgg19_bn_64px": (model_case, lambda: vgg(4, width, True), {"model": "vgg19_bn", **vggs}),
        "googlenet_64px": (model_case, models["googlenet"],
                           {"model": "googlenet", "auxiliary_weight": 0.3, **small, "shape": [8, 3, 64, 64]}),
        "inception_v3_304px": (model_case, models["inception_v3"],
                               {"model": "inception_v3", "auxiliary_weight": 0.4, "shape": [3, 3, 304, 304],
                                "projections": 8, "batches": 1}),
        "inception_v4_128px": (model_case, inception_v4,
                               {"model": "inception_v4", "shape": [8, 3, 128, 128], "projections": 8, "batches": 2}),
        "smooth": (model_case, lambda: GraphModule(text, {"C": 3, "K": LABELS}), {"graph": "smooth.graph", **smooth}),
        "resnet18_descent": (descent_case, models["resnet18"], {"model": "resnet18", **curve}),
        "formula": (formula_case, None, {}),
    }


def plain(value):
    """Value ready for JSON. Floats have nine significant digits; 1e-9 of a projection is far below float32's
    precision."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [plain(v) for v in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def library_of(case):
    """Name and version of the library that defines the network."""
    if not case.startswith("inception_v4"):
        return f"torchvision {torchvision.__version__}"
    import timm  # pylint: disable=import-outside-toplevel
    return f"timm {timm.__version__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    known = cases(arguments.folder)
    for name in arguments.names or known:
        function, build, spec = known[name]
        source = f"tools/peers/parity_golden.py, PyTorch {torch.__version__}, {library_of(name)}"
        result = {"source": source, **spec, "labels": LABELS, **function(build, spec)}
        text = json.dumps(plain(result), separators=(",", ":")).replace("],[", "],\n[")
        (arguments.folder / f"{name}.json").write_text(text + "\n")
        print(name, len(text), "bytes", json.dumps(result.get("float32"))[:700], flush=True)


if __name__ == "__main__":
    main()
