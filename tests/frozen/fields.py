# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Names and types of output that other programs read: JSON results, csv columns, log lines, files, checkpoint keys."""
import json
import re

import lab as laboratory

NUMBERED = re.compile(r"\[\d+\]")
# Keys that depend on the machine.
MACHINE = re.compile(r"(^|\.)(environment|cpu|program|libraries|memory_bytes|machine)(\.|$|\[)")


def type_of(value):
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "null" if value == "null" else "text"


def names_of(value, labels):
    """{path: type} with [] for any position in a list and <label> for any label."""
    found = {}
    for path, part in laboratory.flatten(value).items():
        path = NUMBERED.sub("[]", path)
        path = ".".join("<label>" if word in labels else word for word in path.split("."))
        if not MACHINE.search(path):
            found.setdefault(path, set()).add(type_of(part))
    return {path: " or ".join(sorted(types)) for path, types in found.items()}


def checkpoint_names(path):
    file = laboratory.Safetensors(path)
    names = {f"tensor.{name}": file.form(name) for name in file.tensors}
    for key, text in file.metadata.items():
        names[f"metadata.{key}"] = "there"
        if key in ("preprocess", "progress", "run_state"):
            # The kernel plan depends on the machine.
            state = {k: v for k, v in json.loads(text).items() if not k.startswith("plan_") and k != "other_plans"}
            names.update({f"metadata.{key}.{path}": kind for path, kind in names_of(state, ()).items()})
    return names


def log_names(path):
    names = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        for key, value in record.items():
            names.setdefault(f"{record['kind']}.{key}", set()).add(type_of(value))
    return {key: " or ".join(sorted(types)) for key, types in names.items()}


def fields(lab):
    data = lab.synth("data", 80)
    net = lab.write("net.txt", (laboratory.FROZEN / "nets/resnet.txt").read_text())
    recipe = lab.write("r.toml", "[train]\nepochs = 2\nbatch = 16\n[preprocess]\nsize = 32\n[schedule]\nname = \"plateau\"\n")
    results = {"synth": lab.json("synth", "other", "--images", 40, "--size", 32)}
    results["train"] = lab.json("train", "--recipe", recipe, "--data", data, "--out", "run", "--model", net)
    best = "run/checkpoints/best.safetensors"
    image = sorted((data / "images").iterdir())[0]
    truth = data / "Data_Entry_2017_v2020.csv"
    results["eval"] = lab.json("eval", "--checkpoint", best, "--data", data, "--preds", "test.csv", "--aucs", "aucs.csv",
                               "--curves", "curves.csv", "--reliability", "reliability.csv", "--save-points",
                               "points.json", "--metrics", "all", "--by", "view,sex", "--replicates", 50)
    results["points"] = json.loads((lab / "points.json").read_text())
    results["predict"] = lab.json("predict", "--checkpoint", best, image, "--preds", "one.csv", "--heatmap", "all", "--out",
                                  "maps")
    results["compare"] = lab.json("compare", "test.csv", "test.csv", "--labels", truth, "--csv", "difference.csv",
                                  "--replicates", 50)
    results["inspect.data"] = lab.json("inspect", "--data", data, "--pixels", "--broken", "broken.csv")
    results["inspect.model"] = lab.json("inspect", "--model", net, "--image", 32)
    results["convert"] = lab.json("convert", data, "records", "--to", "tar")
    results["look"] = lab.json("look", "--recipe", recipe, "--data", data, "--sheet", "sheet.png")
    results["export"] = lab.json("export", "--checkpoint", best, "--out", "model.onnx")
    results["report"] = lab.json("report", "run", "--out", "report.html", "--forest", "forest.svg")
    results["schedule"] = lab.json("schedule", "--recipe", recipe)
    results["run.data"] = json.loads((lab / "run/data.json").read_text())
    labels = results["run.data"]["splits"]["train"]["labels"].keys()

    table = {}
    for what, result in results.items():
        table.update({f"json.{what}.{path}": kind for path, kind in names_of(result, labels).items()})
    for name in ("run/preds.csv", "run/aucs.csv", "test.csv", "aucs.csv", "curves.csv", "reliability.csv", "one.csv",
                 "difference.csv", "broken.csv"):
        table[f"csv.{name}"] = ",".join(laboratory.rows_of(lab / name)[0])
    for name in ("best", "resume"):
        names = checkpoint_names(lab / f"run/checkpoints/{name}.safetensors")
        table.update({f"checkpoint.{name}.{key}": kind for key, kind in names.items()})
    table.update({f"log.{key}": kind for key, kind in log_names(lab / "run/log.jsonl").items()})
    for path in (lab / "run").rglob("*"):
        if path.is_file():
            name = re.sub(r"tfevents\..*\.roentgen", "tfevents.*.roentgen", str(path.relative_to(lab / "run")))
            table[f"file.run/{name}"] = "there"
    return table
