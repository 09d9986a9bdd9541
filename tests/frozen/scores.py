# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""AUROCs and all other metrics of given predictions. No network is involved, so they are the same on every machine."""
import lab as laboratory

LABELS = ("Mass", "Edema", "Nodule", "Fibrosis")


def prediction_files(lab):
    """600 images of 200 patients from a linear congruential stream, with heavy ties in one column."""
    state = 12345
    truth, first, second = ["path,patient,view,sex," + ",".join(LABELS)], [], []
    for i in range(600):
        row, a, b = [], [], []
        for k, _ in enumerate(LABELS):
            state = (state * 1103515245 + 12345) % 2**31
            positive = state / 2**31 < 0.1 + 0.1 * k
            state = (state * 1103515245 + 12345) % 2**31
            score = min(max(0.3 * positive + 0.7 * state / 2**31, 0.001), 0.999)
            row.append(str(int(positive)) if (i + k) % 17 else "")
            a.append(f"{round(score, 1 if k == 0 else 5)}")
            b.append(f"{round((score + 0.5 * ((i * 7 + k) % 11) / 11) / 1.5, 5)}")
        truth.append(f"i{i}.png,p{i // 3},{('PA', 'AP')[i % 2]},{('F', 'M')[i // 3 % 2]}," + ",".join(row))
        first.append(f"i{i}.png," + ",".join(a))
        second.append(f"i{i}.png," + ",".join(b))
    header = "Image Index," + ",".join(f"prob_{label}" for label in LABELS)
    return (lab.write("truth.csv", "\n".join(truth) + "\n"), lab.write("a.csv", "\n".join([header, *first]) + "\n"),
            lab.write("b.csv", "\n".join([header, *second]) + "\n"))


def without_machine(result):
    machine = ("environment", "program", "cpu", "seconds", "predictions", "threads")
    return {key: value for key, value in result.items() if key not in machine}


def scores(lab):
    truth, a, b = prediction_files(lab)
    table = {}
    evaluations = {
        "default": [],
        "all": ["--metrics", "all"],
        "subgroups": ["--by", "view,sex"],
        "mean": ["--predictions", b, "--metrics", "all"],
    }
    for name, more in evaluations.items():
        result = without_machine(lab.json("eval", "--predictions", a, "--labels", truth, "--replicates", 200, *more))
        table.update({f"{name}.{key}": value for key, value in laboratory.flatten(result).items()})
    result = without_machine(lab.json("compare", a, b, "--labels", truth, "--replicates", 200))
    table.update({f"compare.{key}": value for key, value in laboratory.flatten(result).items()})
    return {key: value for key, value in table.items() if str(lab.folder) not in str(value)}
