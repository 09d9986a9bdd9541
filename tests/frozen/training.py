# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Weights, predictions and metrics of short trainings, and of runs that resume from resume files of commit a569795.

Results depend on the instruction set. Cases *_avx2 use only AVX2, which every machine has, and compare bit for bit. The
other cases use the machine's best instruction set and compare within a bound.
"""
import json
import os
import shutil

import lab as laboratory

RECIPE = """[preprocess]
size = 32
[augment]
rotate = 5
flip = 0.5
[train]
epochs = 2
batch = 8
[optimizer]
name = "{optimizer}"
lr = 0.01
weight_decay = 1e-4
[schedule]
warmup_epochs = 1
"""
OPTIMIZERS = {"resnet": "adam", "densenet": "sgd"}
# Relative difference of norms, absolute one of probabilities and losses, between instruction sets: roundings of 1e-7 grow
# over 28 updates of Adam at this learning rate. Measured between AVX2 and AVX-512 on a Zen 4: norms at most 1.6e-4,
# probabilities and losses 3.6e-5.
BOUND = 1e-3
REFUSED = 2


def mpirun(ranks):
    return ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", ranks) if ranks > 1 else ()


def train_words(lab, net, data, out, algorithms="direct"):
    """Arguments of `train`. Names have no folder, because resume files store them. a569795 used direct convolutions."""
    lab.write(f"{net}.toml", RECIPE.format(optimizer=OPTIMIZERS[net]))
    lab.write(f"{net}.txt", (laboratory.FROZEN / f"nets/{net}.txt").read_text())
    return ["train", "--recipe", f"{net}.toml", "--data", data, "--out", out, "--model", f"{net}.txt", "--set",
            "train.threads=1", "train.workers=1", f"train.algorithms={algorithms}"]


def rank_words(ranks):
    return ["--oversubscribe", "--set", f"train.batch={8 // ranks}"] if ranks > 1 else []


def has_mpi():
    return shutil.which("mpirun") is not None


def exact(lab, run):
    """Digests of the files of a run."""
    best = laboratory.Safetensors(lab / f"{run}/checkpoints/best.safetensors")
    resume = laboratory.Safetensors(lab / f"{run}/checkpoints/resume.safetensors")
    table = {"best": best.digest(), "resume": resume.digest(), "optimizer": resume.digest("optimizer.")}
    for name in ("preds.csv", "aucs.csv"):
        table[name] = laboratory.digest((lab / run / name).read_bytes())
    losses = [json.loads(line).get("loss") for line in (lab / run / "log.jsonl").read_text().splitlines()]
    table["losses"] = laboratory.digest(json.dumps(losses))
    return table


def near(lab, run):
    """Numbers of a run with a bound, instead of digests."""
    best = laboratory.Safetensors(lab / f"{run}/checkpoints/best.safetensors")
    rows = laboratory.rows_of(lab / run / "preds.csv")[1:]
    losses = [line["loss"] for line in map(json.loads, (lab / run / "log.jsonl").read_text().splitlines())
              if line["kind"] == "step"]
    norm = best.norm()
    table = {"norm": [norm, BOUND * norm], "updates": len(losses), "images": len(rows)}
    for place in (0, len(losses) // 2, len(losses) - 1):
        table[f"loss[{place}]"] = [losses[place], BOUND]
    for row in rows[:3]:
        table[f"prob[{row[0]}]"] = [float(row[1]), BOUND]
    return table


def untold(measure, run):
    """Keys of a case without values, for a machine that cannot compute them (such as two ranks without mpirun)."""
    case = {exact: "training_avx2", near: "training"}[measure]
    for name in (case, case.replace("training", "resume")):
        known = json.loads((laboratory.FROZEN / f"expected/{name}.json").read_text())
        found = {key: None for key in known if key.startswith(f"{run}.")}
        if found:
            return found
    return {}


def trainings(lab, measure, env):
    data = lab.synth("data", 160)
    lab.must("convert", data, "records", "--to", "tfrecord", "--shards", 4)
    runs = {}
    for net in OPTIMIZERS:
        runs[f"{net}.1"] = (net, data, 1, [])
        runs[f"{net}.2"] = (net, data, 2, [])
    runs["resnet.records"] = ("resnet", lab / "records", 1, ["--set", "train.pipeline=tf-official"])
    runs["densenet.rest"] = ("densenet", data, 1, ["--set", "train.accumulate=2", "train.ema=0.9", "train.clip_norm=1.0",
                                                   "loss.positive_weights=balanced", "optimizer.name=adamw"])
    table = {}
    for name, (net, source, ranks, more) in runs.items():
        if ranks > 1 and not has_mpi():
            table.update(untold(measure, name))
            continue
        lab.must(*train_words(lab, net, source, name), *more, *rank_words(ranks), env=env, starter=mpirun(ranks))
        table.update({f"{name}.{key}": value for key, value in measure(lab, name).items()})
    lab.must("eval", "--checkpoint", "resnet.1/checkpoints/best.safetensors", "--data", data, "--preds", "test.csv",
             "--replicates", 0, "--threads", 1, "--algorithms", "direct", env=env)
    rows = laboratory.rows_of(lab / "test.csv")
    if measure is exact:
        table["eval.preds"] = laboratory.digest((lab / "test.csv").read_bytes())
    else:
        table.update({f"eval.prob[{row[0]}]": [float(row[1]), BOUND] for row in rows[1:4]})
    return table


def training_avx2(lab):
    return trainings(lab, exact, laboratory.AVX2)


def training(lab):
    return trainings(lab, near, {})


def resume_files():
    return sorted((laboratory.FROZEN / "resume").glob("*.safetensors"))


def resumed(lab, measure, env):
    """Resumes runs of a569795 that stopped in the middle of the first epoch."""
    data = lab.synth("data", 160)
    table = {}
    for path in resume_files():
        name = path.stem
        net, algorithms, ranks = name.split("-")
        ranks = int(ranks)
        if ranks > 1 and not has_mpi():
            table.update(untold(measure, name))
            continue
        (lab / name / "checkpoints").mkdir(parents=True)
        shutil.copy(path, lab / name / "checkpoints/resume.safetensors")
        ended = lab.run(*train_words(lab, net, data, name, algorithms), *rank_words(ranks), "--resume", env=env,
                        starter=mpirun(ranks))
        if measure is near and ended.returncode == REFUSED and "[engine.plan]" in ended.stderr:
            table.update(untold(measure, name))  # these kernels exist only for AVX2's blocks of channels
            continue
        if ended.returncode != 0:
            raise laboratory.Failure(f"{name}: {ended.stderr}")
        table.update({f"{name}.{key}": value for key, value in measure(lab, name).items()})
    return table


def resume_avx2(lab):
    return resumed(lab, exact, laboratory.AVX2)


def resume(lab):
    return resumed(lab, near, {})


def write_resume_files(program, folder):
    """Writes the resume files. Was run once with the program of a569795: `python3 training.py PROGRAM`."""
    lab = laboratory.Lab(program, folder, laboratory.real_data())
    data = lab.synth("data", 160)
    for net in OPTIMIZERS:
        for algorithms in ("direct", "auto"):
            for ranks in (1, 2):
                name = f"{net}-{algorithms}-{ranks}"
                lab.must(*train_words(lab, net, data, name, algorithms), *rank_words(ranks), "--stop-after", "10",
                         env=laboratory.AVX2, starter=mpirun(ranks), code=3)
                target = laboratory.FROZEN / "resume" / f"{name}.safetensors"
                target.parent.mkdir(exist_ok=True)
                shutil.copy(lab / name / "checkpoints/resume.safetensors", target)
                os.chmod(target, 0o644)


if __name__ == "__main__":
    import pathlib
    import sys
    import tempfile
    with tempfile.TemporaryDirectory() as scratch:
        write_resume_files(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
