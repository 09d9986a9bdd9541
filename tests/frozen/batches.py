# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Network inputs from synthetic images, for every storage format and every pipeline, and the split of each image. The
results are the same on every machine."""
import json

import lab as laboratory

PIPELINES = {
    "default": "default",
    "buffered": "samples | shuffle(buffer=16) | shard | repeat | map_and_batch | prefetch",
    "mapped": "samples | map | shuffle(buffer=16) | shard | repeat | batch | prefetch",
}
RECORD_PIPELINES = {"tf-official": "tf-official", "naive": "naive"}
INPUTS = {
    "plain": "[preprocess]\nsize = 32\n",
    "resized": "[preprocess]\nsize = 24\nfit = \"crop\"\nfilter = \"area\"\nmean = [0.4]\nstd = [0.3]\n",
    "padded": "[preprocess]\nsize = 40\nfit = \"pad\"\nchannels = 3\nmean = [0.485, 0.456, 0.406]\n"
              "std = [0.229, 0.224, 0.225]\n",
    "augmented": "[preprocess]\nsize = 32\n[augment]\nrotate = 10\ntranslate = 0.1\nscale = 0.2\nflip = 0.5\nshear = 5\n"
                 "brightness = 0.2\ncontrast = 0.2\n",
    "cropped": "[preprocess]\nsize = 24\n[augment]\ncrop_area = 0.5\ncrop_aspect = 1.3\n",
}


def checksum(lab, data, recipe, pipeline="default", batch=48, steps=1):
    result = lab.json("bench", "pipeline", "--data", data, "--batch", batch, "--steps", steps, "--warmup", 0, "--workers", 2,
                      "--recipe", recipe, "--pipeline", pipeline)
    return result["checksum"]


def batches(lab):
    table = {}
    recipes = {name: lab.write(f"{name}.toml", text) for name, text in INPUTS.items()}
    for form in ("png8", "png16", "png12", "jpeg"):
        data = lab.synth(form, 60, "--form", form)
        images = data / "images"
        files = b"".join(path.read_bytes() for path in sorted(images.iterdir()))
        table[f"drawn.{form}"] = laboratory.digest(files)
        for name, recipe in recipes.items():
            table[f"batch.{form}.{name}"] = checksum(lab, images, recipe)
    drawn = lab / "png8"
    for name, pipeline in PIPELINES.items():
        table[f"batch.pipeline.{name}"] = checksum(lab, drawn / "images", recipes["augmented"], pipeline)
    for to in ("tfrecord", "tar"):
        for encode in ("keep", "raw"):
            folder = f"{to}-{encode}"
            lab.must("convert", drawn, folder, "--to", to, "--encode", encode, "--shards", 2, "--workers", 2)
            stored = sorted(path for path in (lab / folder).iterdir() if path.name != "convert.json")
            table[f"stored.{folder}"] = laboratory.digest(b"".join(path.read_bytes() for path in stored))
            train = [path for path in stored if path.name.startswith("train")]
            for name, pipeline in {**PIPELINES, **RECORD_PIPELINES}.items():
                result = lab.run("bench", "pipeline", "--data", folder, "--batch", 24, "--steps", 1, "--warmup", 0,
                                 "--recipe", recipes["plain"], "--pipeline", pipeline, "--json", "p.json")
                table[f"batch.{folder}.{name}"] = (json.loads((lab / "p.json").read_text())["checksum"]
                                                   if result.returncode == 0 else f"exit {result.returncode}")
            table[f"stored.{folder}.files"] = " ".join(path.name for path in train)
    lab.must("convert", drawn, "small", "--to", "png", "--encode", "png", "--resize", 16)
    table["stored.png.small"] = laboratory.digest(
        b"".join(path.read_bytes() for path in sorted((lab / "small").rglob("*.png"))))
    return table


def splits_of(lab, data, *settings):
    """Counts, list hashes and positives of every split."""
    words = ["--set", *settings] if settings else []
    result = lab.json("inspect", "--data", data, "--no-files", *words)
    return laboratory.flatten(result["splits"])


CHEXPERT = ("Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding,Enlarged Cardiomediastinum,Cardiomegaly,Lung Opacity,"
            "Lung Lesion,Edema,Consolidation,Pneumonia,Atelectasis,Pneumothorax,Pleural Effusion,Pleural Other,Fracture,"
            "Support Devices\n")


def splits(lab):
    table = {}

    def add(name, *arguments):
        table.update({f"{name}.{key}": value for key, value in splits_of(lab, *arguments).items()})

    drawn = lab.synth("nih", 200)
    add("nih", drawn)
    add("nih.random", drawn, "data.split=random", "data.split_seed=7", "data.test_fraction=0.3")
    add("nih.by_image", drawn, "data.split=random", "data.split_unit=image")
    add("nih.whole", drawn, "data.split=whole")
    add("csv", lab.synth("csv", 120, "--labels", "csv", "--uncertain", 0.1, "--blank", 0.1),
        "data.labels=[\"Mass\", \"Edema\"]", "data.uncertain=one")
    image = sorted((drawn / "images").iterdir())[0].read_bytes()
    rows = []
    for patient in range(40):
        name = f"CheXpert-v1.0-small/{'train' if patient < 32 else 'valid'}/patient{patient:05}/study1/view1_frontal.jpg"
        path = lab.folder / "chexpert" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(image)
        values = [("1.0", "0.0", "-1.0", "")[(patient + column) % 4] for column in range(14)]
        rows.append((patient < 32, f"{name},Female,{20 + patient},Frontal,AP,{','.join(values)}\n"))
    root = "chexpert/CheXpert-v1.0-small"
    lab.write(f"{root}/train.csv", CHEXPERT + "".join(row for is_train, row in rows if is_train))
    lab.write(f"{root}/valid.csv", CHEXPERT + "".join(row for is_train, row in rows if not is_train))
    add("chexpert", lab / root)
    for split, count in (("train", 12), ("test", 6)):
        for i in range(count):
            path = lab.folder / f"classes/{split}/{('normal', 'sick')[i % 2]}/{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image)
    add("classes", lab / "classes", "data.split_unit=image")
    lab.must("convert", drawn, "tar", "--to", "tar", "--shards", 2)
    add("tar", lab / "tar")
    lab.must("convert", drawn, "tfrecord", "--to", "tfrecord", "--shards", 2)
    add("tfrecord", lab / "tfrecord")
    return table
