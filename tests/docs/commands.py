#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs every command line of README.md and of all pages of docs with small data. Exits 1 with the command and what it printed.

  commands.py PROGRAM              all pages
  commands.py PROGRAM train.md     one page

The commands of a page run in their order, in a new folder with the files that guides mention (make_place). A command line
is a line of a block marked `sh`. SKIPPED lists the first words of commands that cannot run here; their files, make
targets and options are checked instead (check_skipped). Any other first word is an error.
"""
import ctypes.util
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# First word of a command that is not run -> the reason.
SKIPPED = {
    "make": "builds; tests/packages makes the packages", "cmake": "builds; the tests Installation.* build tests/consumer",
    "ctest": "tests a build", "pip": "installs; tests/packages does", "python3": "makes an environment; tests/packages does",
    "sudo": "installs; tests/packages does", "tar": "unpacks a package; tests/packages does", "podman": "needs a registry",
    "mkdir": "unpacks on a machine with a GPU", "srun": "needs Slurm", "sbatch": "needs Slurm",
    "qsub": "needs PBS", "ssh": "needs a second host", "printf": "names a second host", "build/consumer/consumer": "tests Installation.* run it",
    "tools/setup.sh": "installs packages", "tools/emulated_hosts.sh": "needs root", "tools/gpu/bundle.sh": "needs a GPU build; tools/gpu_check_test.py runs its check.sh with stubs",
    "python": "needs the package; python/tests do", "wandb": "needs an account",
    "tools/peers/report_screenshot.sh": "needs a browser", "tools/peers/onednn_layers.py": "needs another oneDNN",
    "tools/studies/": "measures for minutes to hours, some beside other programs; its own *_test.py test it",
}
# Makes every training one short epoch of one thread. A later --set wins, so these stand last.
SHORT = ["--set", "train.epochs=1", "--set", "train.batch=8", "--set", "train.threads=1", "--set", "preprocess.size=64",
         "--set", "preprocess.resize=0"]
SMALL_NETWORK = ["--model", "resnet18", "--set", "model.width=8"]
# Values that make a benchmark short, in place of those of a page. --batch has the number of ranks as its least.
SHORT_BENCH = {"--models": "resnet18", "--model": "resnet18", "--image": "32", "--batch": "4", "--steps": "1", "--rounds": "1",
               "--repeat": "1", "--threads": "1", "--warmup": "1"}
# A network of the user's own.
NETWORK = """graph "net"
input image (N, C, S, S)
conv = conv2d(image, out=8, kernel=3x3, stride=2x2, pad=1x1)
relu = relu(conv)
pool = global_avg_pool(relu)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
"""
# Variables that let MPI start two or four processes as any user on any machine.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def fail(text):
    sys.exit(f"[docs.commands] {text}")


def blocks(text):
    """(language, text) of every fenced block of a page."""
    found, language, lines = [], None, []
    for line in text.splitlines():
        if language is None and line.startswith("```"):
            language, lines = line[3:].strip(), []
        elif line == "```":
            found.append((language, "\n".join(lines)))
            language = None
        elif language is not None:
            lines.append(line)
    return found


def command_lines(text):
    """Command lines of the blocks marked `sh` of a page."""
    found = []
    for language, block in blocks(text):
        if language == "sh":
            lines = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
            found += [words for words in lines if words]
    return found


def unmarked_commands(text):
    """Lines of blocks without a mark that look like commands. A block that begins with `$` shows what was printed."""
    return [line for language, block in blocks(text) if not language and not block.startswith("$")
            for line in block.splitlines() if re.match(r"roentgen [a-z]", line)]


def is_skipped(words):
    if "=" in words[0]:  # a variable; that MPI may be absent
        return True
    names = [words[0], words[0][:words[0].rfind("/") + 1]]
    is_ours = pathlib.Path(words[0]).name == "roentgen"
    if not is_ours and words[0] != "mpirun" and not any(name in SKIPPED for name in names):
        fail(f"{shlex.join(words)}: expected roentgen or a word of SKIPPED, got {words[0]}")
    needs_hosts = any(word in words for word in ("--hosts", "--hosts-from", "--hostfile", "--map-by"))
    needs_mpi = ("--ranks" in words or words[0] == "mpirun") and shutil.which("mpirun") is None
    # A plan for a described GPU needs cuDNN, but no GPU.
    needs_gpu = "cuda" in words and ("--card" not in words or ctypes.util.find_library("cudnn") is None)
    # takes minutes, with sizes up to 100 MB; measures a machine for a minute; trains until a target
    is_long = "allreduce" in words or words[1:3] in (["bench", "suite"], ["bench", "long"])
    return not is_ours and words[0] != "mpirun" or needs_hosts or needs_mpi or needs_gpu or is_long


def check_skipped(words, program):
    """A command that does not run names files, make targets and options that exist."""
    command = [word for word in words if not re.fullmatch(r"[A-Z_]+=.*", word)]
    if command[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        if command[1] not in targets:
            fail(f"{shlex.join(words)}: expected a target of the Makefile, got {command[1]}")
    elif command[0].startswith("tools/"):
        if not (ROOT / command[0]).exists():
            fail(f"{shlex.join(words)}: expected a file of the tree, got {command[0]}")
        folder = (ROOT / command[0]).parent
        text = "".join(path.read_text(encoding="utf-8") for path in [ROOT / command[0], *folder.glob("study.py")])
        own = command[:next((i for i, word in enumerate(command) if word.endswith("roentgen")), len(command))]
        check_options(own, re.sub(r"\b([a-z_]+)=", lambda name: f"--{name[1].replace('_', '-')} ", text), words)  # parser_of(rounds=3)
    start = next((i for i, word in enumerate(command[:-1]) if pathlib.Path(word).name == "roentgen"), None)
    if start is not None and re.fullmatch(r"[a-z][a-z-]*", command[start + 1]):
        ours = command[start + 1:]
        names = ours[:2] if ours[0] in ("bench", "doctor") and not ours[1:2] == ["--hosts"] else ours[:1]
        text = subprocess.run([program, *names, "--help"], capture_output=True, text=True, check=False).stdout
        check_options(ours, text, words)


def check_options(command, text, words):
    for word in command:
        if word.startswith("--") and not re.search(re.escape(word) + r"\b(?!-)", text):
            fail(f"{shlex.join(words)}: expected an option that exists, got {word}")


def shortened(words):
    """The command with settings that make it short."""
    if "bench" in words or "scale" in words:
        kept = list(words)
        if ("--ranks" in words or "--ranks-per-node" in words) and "--oversubscribe" not in words:
            kept.append("--oversubscribe")
        if "--image" not in words and ("choose" in words or "fusion" in words or "infer" in words):
            kept += ["--image", "32"]
        return [SHORT_BENCH.get(before, word) for before, word in zip([""] + kept, kept)]
    if words[1] != "train" or "--keys" in words or "--resume" in words:
        return words
    if any(word.startswith("train.choices=") for word in words):  # the network, image and batch that SHORT_BENCH timed
        same = ["--model", "resnet18", "--set", "train.batch=4", "--set", "preprocess.size=32"]
        return [*(word for word in words if word not in ("--model", "resnet50")), *SHORT, *same]
    built_in = "recipe.toml" not in words
    names_network = "--model" in words or "--init" in words
    shared = ["--oversubscribe"] if "--ranks" in words and "--oversubscribe" not in words else []
    return [*words, *shared, *SHORT, *(SMALL_NETWORK if built_in and not names_network else [])]


class Place:
    """A folder in which commands run, and the program."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        path = f"{pathlib.Path(program).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, **MPI, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / ".cache"),
                            "XDG_DATA_HOME": str(folder / ".data"), "PATH": path}

    def run(self, words):
        """Runs a command line that begins with `roentgen` or `mpirun`; fails with what it printed."""
        first = "mpirun" if words[0] == "mpirun" else self.program
        done = subprocess.run([first, *words[1:]], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, check=False)
        # doctor also fails where it finds something wrong with this machine
        is_finding = words[1] == "doctor" and done.returncode == 1 and done.stdout
        if done.returncode and not is_finding:
            fail(f"{shlex.join(words)}: expected success, got {done.returncode}\n{done.stdout}{done.stderr}")

    def roentgen(self, line):
        self.run(["roentgen", *shlex.split(line)])


def dicom_file(rows, columns, level):
    """A gray 8-bit DICOM file of one level, explicit VR, little endian, uncompressed."""
    def element(group, number, kind, value):
        value += (b"\0" if kind in ("UI", "OB") else b" ") * (len(value) % 2)
        head = struct.pack("<HH2s", group, number, kind.encode())
        size = struct.pack("<HI", 0, len(value)) if kind in ("OB", "OW") else struct.pack("<H", len(value))
        return head + size + value

    def short(group, number, value):
        return element(group, number, "US", struct.pack("<H", value))

    meta = element(2, 0x10, "UI", b"1.2.840.10008.1.2.1")
    image = b"".join([
        element(8, 0x16, "UI", b"1.2.840.10008.5.1.4.1.1.1"), element(8, 0x60, "CS", b"DX"),
        element(0x10, 0x20, "LO", b"p%d" % level), element(0x18, 0x15, "CS", b"CHEST"), element(0x18, 0x5101, "CS", b"PA"),
        short(0x28, 2, 1), element(0x28, 4, "CS", b"MONOCHROME2"), short(0x28, 0x10, rows), short(0x28, 0x11, columns),
        short(0x28, 0x100, 8), short(0x28, 0x101, 8), short(0x28, 0x102, 7), short(0x28, 0x103, 0),
        element(0x7fe0, 0x10, "OW", bytes((level + i) % 256 for i in range(rows * columns)))])
    return b"\0" * 128 + b"DICM" + element(2, 0, "UL", struct.pack("<I", len(meta))) + meta + image


def make_place(place):
    """Makes the files that the commands in the guides need."""
    folder = place.folder
    place.roentgen("synth my_xrays --images 120 --size 64 --seed 3 --masks")
    place.roentgen("init my_xrays --set 'data.labels=[\"Cardiomegaly\",\"Effusion\",\"Edema\"]'")
    for run in ("run", "run2"):
        place.run(["roentgen", "train", "--recipe", "recipe.toml", "--data", "my_xrays", "--out", run, "--set",
                   f"train.seed={len(run)}", *SHORT])
    place.roentgen("eval --checkpoint run/checkpoints/best.safetensors --data my_xrays --json eval.json --preds a_test.csv")
    place.roentgen("eval --checkpoint run2/checkpoints/best.safetensors --data my_xrays --preds b_test.csv")
    shutil.copy(folder / "a_test.csv", folder / "preds.csv")
    for records in ("before", "after", "ledger"):
        place.roentgen(f"bench step --model resnet18 --image 32 --batch 2 --steps 2 --warmup 1 --threads 1 --ledger {records}")
    images = sorted((folder / "my_xrays/images").iterdir())
    shutil.copy(images[0], folder / "chest.png")
    (folder / "new_images").mkdir()
    for image in images[:3]:
        shutil.copy(image, folder / "new_images")
    shutil.copytree(folder / "my_xrays", folder / "nih")
    shutil.copytree(folder / "my_xrays/images", folder / "images")
    place.roentgen("synth ours --images 60 --size 32 --seed 4 --labels csv")
    (folder / "net.txt").write_text(NETWORK, encoding="utf-8")
    make_hospital(folder)
    make_chexpert(folder, images)
    make_kermany(folder, images)
    make_classes(folder / "photos", images)
    # Weights as torchvision has them, under the name of its file: the content decides the form.
    place.run(["roentgen", "train", "--recipe", "recipe.toml", "--data", "my_xrays", "--out", "dense", "--model", "densenet121",
               "--set", "model.width=64", *SHORT, "--set", "preprocess.size=32"])
    place.roentgen("export --checkpoint dense/checkpoints/best.safetensors --out dense.safetensors --channels 3")
    weights = (folder / "dense.safetensors").read_bytes()
    (folder / "densenet121-a639ec97.pth").write_bytes(without_metadata(weights))
    shutil.rmtree(folder / "dense")


def without_metadata(weights):
    """A safetensors file without the metadata of its header."""
    size = struct.unpack("<Q", weights[:8])[0]
    header = json.loads(weights[8:8 + size])
    del header["__metadata__"]
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + weights[8 + size:]


def make_hospital(folder):
    """DICOM files without labels, and with a table."""
    for name in ("hospital", "hospital_labelled"):
        (folder / name).mkdir()
        for number in range(8):
            (folder / name / ("scan.dcm" if number == 0 else f"scan{number}.dcm")).write_bytes(dicom_file(40, 40, number))
    rows = [f"scan{number or ''}.dcm,p{number},{number % 2}" for number in range(8)]
    (folder / "hospital_labelled/labels.csv").write_text("path,patient,Mass\n" + "\n".join(rows) + "\n")


def make_chexpert(folder, images):
    """A folder as CheXpert is published."""
    for table, first in (("train", 0), ("valid", 60)):
        rows = ["Path,Sex,Age,Frontal/Lateral,AP/PA," + ",".join(CHEXPERT)]
        for number in range(first, first + 60):
            path = f"{table}/patient{number:05}/study1/view1_frontal.png"
            (folder / "chexpert" / path).parent.mkdir(parents=True)
            shutil.copy(images[number], folder / "chexpert" / path)
            labels = ",".join(f"{float((number >> bit) & 1)}" for bit in range(len(CHEXPERT)))
            rows.append(f"CheXpert-v1.0/{path},Male,50,Frontal,PA,{labels}")
        (folder / f"chexpert/{table}.csv").write_text("\n".join(rows) + "\n")


def make_classes(folder, images):
    """A folder for each of two classes."""
    for number, image in enumerate(images):
        place = folder / ("normal", "effusion")[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, place)


def make_kermany(folder, images):
    """A folder with the table that recipes/kermany.toml reads."""
    (folder / "kermany").mkdir()
    rows = ["file,pneumonia,patient,split"]
    for number, image in enumerate(images):
        shutil.copy(image, folder / "kermany")
        rows.append(f"{image.name},{number % 2},p{number},{('train', 'train', 'val')[number % 3]}")
    (folder / "kermany/labels.csv").write_text("\n".join(rows) + "\n")


CHEXPERT = ["No Finding", "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema", "Consolidation",
            "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion", "Pleural Other", "Fracture", "Support Devices"]


def pages(names):
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if not names or page.name in names]


def link_or_copy(source, target):
    """Links files that commands replace but never write into, because these are large. Copies all others."""
    if source.endswith((".safetensors", ".pth", ".png")):
        os.link(source, target)
    else:
        shutil.copy2(source, target)


def check_page(page, base, program):
    """Runs the commands of a page in a copy of `base`. Returns how many ran."""
    text = page.read_text(encoding="utf-8")
    is_generated = text.startswith("<!-- Written by tools/reference.py")
    for line in () if is_generated else unmarked_commands(text):
        fail(f"{page.name}: expected ```sh before a block of commands, got none: {line}")
    for words in filter(is_skipped, command_lines(text)):
        check_skipped(words, program)
    lines = [words for words in command_lines(text) if not is_skipped(words)]
    if not lines:
        return 0
    with tempfile.TemporaryDirectory(dir=base.parent) as folder:
        place = Place(pathlib.Path(folder) / "place", program)
        shutil.copytree(base, place.folder, copy_function=link_or_copy)
        if page.name in ("README.md", "index.md", "own_data.md"):
            (place.folder / "recipe.toml").unlink()
            for run in ("run", "run2"):
                shutil.rmtree(place.folder / run)
        for words in lines:
            out = words[words.index("--out") + 1] if words[1] == "train" and "--out" in words else ""
            if out and "--resume" not in words:
                shutil.rmtree(place.folder / out, ignore_errors=True)
            place.run(shortened(words))
    return len(lines)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        base = Place(pathlib.Path(folder) / "base", program)
        base.folder.mkdir()
        make_place(base)
        total = 0
        for page in pages(sys.argv[2:]):
            ran = check_page(page, base.folder, program)
            if ran:
                print(f"{page.relative_to(ROOT)}: {ran} commands")
            total += ran
    if not total:
        fail("expected commands in the pages, got none")
    print(f"{total} commands ran")


if __name__ == "__main__":
    main()
