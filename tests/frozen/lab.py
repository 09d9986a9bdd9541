# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Runs the program in a folder, and computes digests of the files that it writes."""
import csv
import hashlib
import io
import json
import os
import pathlib
import struct
import subprocess
import tarfile

# Every x86-64 machine on which Roentgen runs has AVX2, so results that depend on the instruction set are stored for
# AVX2.
AVX2 = {"DNNL_MAX_CPU_ISA": "AVX2"}
FROZEN = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    """The program did not do what the case needs."""


class Nothing(Exception):
    """Raised when something that the case needs is absent, so that nothing can be compared."""


def real_data():
    root = pathlib.Path(os.environ.get("ROENTGEN_SOURCE_DIR", FROZEN.parent.parent))
    return pathlib.Path(os.environ.get("ROENTGEN_TEST_DATA", root / "../shared/data"))


def digest(data):
    """First 16 hex digits of SHA-256."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


class Lab:
    """Runs one program in one temporary folder. One thread unless a case asks for more."""

    def __init__(self, program, folder, data):
        self.program, self.folder, self.data = program, folder, data.resolve()
        self.runs = 0

    def __truediv__(self, name):
        return self.folder / name

    def run(self, *arguments, env=None, starter=()):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "COLUMNS": "120",
                       "XDG_CACHE_HOME": str(self.folder / "cache"),
                       "XDG_DATA_HOME": str(self.folder / "data"), **(env or {})}
        words = [*map(str, starter), str(self.program), *map(str, arguments)]
        return subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, check=False)

    def must(self, *arguments, env=None, starter=(), code=0):
        ended = self.run(*arguments, env=env, starter=starter)
        if ended.returncode != code:
            raise Failure(f"roentgen {' '.join(map(str, arguments))}: expected exit code {code}, got "
                          f"{ended.returncode}: {ended.stderr.strip()[-2000:]}")
        return ended

    def json(self, *arguments, env=None, starter=()):
        """Content that a command writes for --json."""
        self.runs += 1
        path = self.folder / f"result-{self.runs}.json"
        self.must(*arguments, "--json", path, env=env, starter=starter)
        return json.loads(path.read_text())

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def synth(self, name, images, *more):
        path = self.folder / name
        self.must("synth", path, "--images", images, "--size", 32, "--seed", 3, *more)
        return path

    def need_real(self, name):
        path = self.data / name
        if not path.exists():
            raise Nothing(f"{path} is absent (ROENTGEN_TEST_DATA names the folder of real files)")
        return path


def flatten(value, prefix=""):
    """{"a": {"b": [1, 2]}} as {"a.b[0]": 1, "a.b[1]": 2}."""
    if isinstance(value, dict):
        pairs = [(f"{prefix}.{key}" if prefix else key, part) for key, part in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{prefix}[{i}]", part) for i, part in enumerate(value)]
    else:
        return {prefix: "null" if value is None else value}
    flat = {} if pairs else {prefix: "empty"}
    for key, part in pairs:
        flat.update(flatten(part, key))
    return flat


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


class Safetensors:
    """Header and bytes of a safetensors file."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        self.tensors = json.loads(data[8:8 + size])
        self.metadata = self.tensors.pop("__metadata__", {})
        self.data = data[8 + size:]

    def bytes(self, name):
        begin, end = self.tensors[name]["data_offsets"]
        return self.data[begin:end]

    def form(self, name):
        return f"{self.tensors[name]['dtype']} {self.tensors[name]['shape']}"

    def digest(self, kind=""):
        """Hash of all tensors, or of those whose name begins with `kind`, in the order of their names."""
        whole = hashlib.sha256()
        for name in sorted(self.tensors):
            if name.startswith(kind):
                whole.update(name.encode() + self.form(name).encode() + self.bytes(name))
        return whole.hexdigest()[:16]

    def norm(self):
        """Square root of the sum of squares over the F32 tensors, for comparison within a bound."""
        total = 0.0
        for name, info in self.tensors.items():
            if info["dtype"] == "F32":
                raw = self.bytes(name)
                total += sum(x * x for x in struct.unpack(f"<{len(raw) // 4}f", raw))
        return total ** 0.5


def shard_members(folder):
    """{name: bytes} of all members of the tar shards in a folder."""
    members = {}
    for shard in sorted(pathlib.Path(folder).glob("*.tar")):
        with tarfile.open(fileobj=io.BytesIO(shard.read_bytes())) as archive:
            for member in archive:
                members[member.name] = archive.extractfile(member).read()
    return members
