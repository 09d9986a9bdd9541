# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Pixels, splits and metrics of real files; skipped with a message if the folder of real files is absent."""
import gzip
import json
import os

import batches
import lab as laboratory

IMAGES = (".png", ".jpg", ".jpeg", ".dcm")
# The default pipeline without prefetching, so that only the first batch is decoded.
ONE_BATCH = "samples | shuffle | shard | map_and_batch"
PRESETS = ("stored", "voi", "nih", "mimic-jpg", "chexpert", "xrv")


def listed(lab, name, folder):
    """A data folder whose labels.csv names every image below `folder`."""
    root = lab.folder / name
    root.mkdir()
    (root / "f").symlink_to(folder)
    names = sorted(os.path.relpath(os.path.join(base, file), root) for base, _, files in os.walk(root / "f", followlinks=True)
                   for file in files if file.lower().endswith(IMAGES))
    write_list(root, names)
    return root, names


def write_list(root, names):
    (root / "labels.csv").write_text("path,x\n" + "".join(f"\"{name}\",{i % 2}\n" for i, name in enumerate(names)))


def decoded(lab, root, name, intensity="stored"):
    """{file: digest of its decoded pixels}."""
    out = f"{name}-{intensity}"
    lab.must("convert", root, out, "--to", "tar", "--encode", "raw", "--shards", 1, "--intensity", intensity, "--set",
             "data.labels=[\"x\"]", "data.split=whole")
    members = laboratory.shard_members(lab / out)
    table = {}
    for member, data in members.items():
        if member.endswith(".json"):
            described = json.loads(data)
            pixels = next(body for other, body in members.items()
                          if other.startswith(member[:-4]) and not other.endswith(".json"))
            table[described["filename"]] = laboratory.digest(pixels)
    return table


def good_files(lab, name, folder):
    """List of the files that can be read, and the table of those that cannot."""
    root, names = listed(lab, name, folder)
    lab.must("inspect", "--data", root, "--pixels", "--broken", f"{name}.broken.csv", "--set", "data.labels=[\"x\"]",
             "data.split=whole")
    broken = {row[0] for row in laboratory.rows_of(lab / f"{name}.broken.csv")[1:]}
    write_list(root, [file for file in names if file not in broken])
    return root, {f"{name}.{file}": "refused" for file in broken}


def pixels(lab):
    table = {}
    for name, folder in (("corrupt", "corrupt"), ("photographs", "jpeg_folder"), ("nih", "nih/png"), ("dicom", "dicom")):
        root, refused = good_files(lab, name, lab.need_real(folder))
        table.update(refused)
        for intensity in PRESETS if name == "dicom" else PRESETS[:1]:
            for file, found in decoded(lab, root, name, intensity).items():
                table[f"{name}.{file}" + (f" as {intensity}" if name == "dicom" else "")] = found
    recipes = {key: lab.write(f"{key}.toml", text) for key, text in batches.INPUTS.items()}
    for name, folder, count in (("nih", "nih/png", 79), ("nih128", "nih/png128", 1384), ("kermany", "kermany/train", 1024)):
        for key, recipe in recipes.items():
            table[f"batch.{name}.{key}"] = batches.checksum(lab, lab.need_real(folder), recipe, ONE_BATCH, batch=count)
    return table


def splits(lab):
    table = {}

    def add(name, *arguments):
        table.update({f"{name}.{key}": value for key, value in batches.splits_of(lab, *arguments).items()})

    nih = lab.need_real("nih")
    add("nih", nih, "data.images=[\"png128\"]")
    add("nih.random", nih, "data.images=[\"png128\"]", "data.split=random", "data.split_seed=3")
    add("nih.view", nih, "data.images=[\"png128\"]", "data.labels=[\"View:AP\",\"Sex:M\"]")
    add("kermany", lab.need_real("kermany"), "data.labels=[\"pneumonia\"]")
    add("kermany.cause", lab.need_real("kermany"), "data.labels=[\"etiology:bacteria\"]")
    add("photographs", lab.need_real("jpeg_folder"), "data.source=class_folders", "data.split=random",
        "data.split_unit=image")
    for number, path in enumerate(record_files(lab)):
        folder = lab / f"record-{number}"
        folder.mkdir()
        if path.suffix == ".mdb":
            (folder / "data.mdb").symlink_to(path)
        else:
            data = path.read_bytes()
            ending = ".tar" if "webdataset" in path.parts else ".tfrecord"
            (folder / f"part{ending}").write_bytes(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        ended = lab.run("inspect", "--data", folder, "--no-files", "--set", "data.split=whole", "--json", "records.json")
        name = path.relative_to(lab.data)
        table[f"{name}.exit"] = ended.returncode
        if ended.returncode == 0:
            found = json.loads((lab / "records.json").read_text())["splits"]
            table.update({f"{name}.{key}": value for key, value in laboratory.flatten(found).items()})
    return table


def record_files(lab):
    """Shards, TFRecord files and an LMDB that other programs wrote."""
    return [path for path in sorted(lab.need_real("records").rglob("*"))
            if path.name.endswith((".tar", ".gz", ".tgz", ".tfrecord", ".mdb"))]


def scores(lab):
    """The published probabilities of those images that have a row in NIH's table."""
    known = {row[0] for row in laboratory.rows_of(lab.need_real("nih/labels.csv"))}
    lines = lab.need_real("nih/extra/chexnet_preds.csv").read_text().splitlines()
    kept = [line for line in lines if line.startswith("Image Index") or line.split(",")[0] in known]
    result = lab.json("eval", "--predictions", lab.write("preds.csv", "\n".join(kept) + "\n"), "--labels",
                      lab.need_real("nih/labels.csv"), "--metrics", "all", "--replicates", 100)
    return {f"chexnet.{key}": value for key, value in laboratory.flatten(result["auroc"]).items()}
