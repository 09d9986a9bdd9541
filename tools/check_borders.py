#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks the includes between rooms (modules of src) and the form of every source file. Exits 1 with one line per finding.

  tools/check_borders.py [ROOT]

- a room includes only the rooms in its row below; engine/cpu and engine/cuda never include each other;
- only one room includes the headers of a backend library; only one source file includes a header that compiles slowly;
- includes are relative to src and exist; every file begins with the SPDX lines; headers have #pragma once, not #ifndef,
  except X-inl.h, which Highway includes once per target (HWY_TARGET_TOGGLE);
- only core/terminal and core/log print, so that control characters in names never reach a terminal; the launcher may
  print the output of its ranks;
- only engines that compute on the host call Arena::host(); no room above the engines keeps pointers into an arena;
- engine/plan names no backend, in code or comments;
- no file over 400 lines without a comment "Over 400 lines: <reason>"; fewer than one #if per 1,000 lines.
"""
import pathlib
import re
import sys

CORE_IO = {"core", "runtime", "io"}
TRAIN = {"core", "runtime", "io", "graph", "data", "dist", "eval", "engine"}
ALL = TRAIN | {"models", "synth", "train", "engine/cpu"}
# Room -> other rooms that its files may include. A subfolder such as engine/cpu is a separate room.
ROOMS = {
    "core": set(),
    "runtime": {"core"},
    "io": {"core"},
    "data": CORE_IO,
    "graph": {"core"},
    "engine": {"core", "runtime", "graph"},
    "engine/plan": {"core", "runtime", "graph", "engine"},
    "engine/cpu": {"core", "runtime", "graph", "engine", "engine/plan"},
    "engine/cuda": {"core", "runtime", "io", "graph", "engine", "engine/plan"},
    "dist": {"core", "runtime"},
    "models": {"core", "graph"},
    "synth": CORE_IO,
    "eval": {"core"},
    "score": {"core", "io", "data", "eval"},
    "train": TRAIN,
    "publish": {"core", "io", "graph", "data", "engine", "eval", "train"},
    "doctor": CORE_IO | {"data", "dist", "engine"},
    "bench": ALL | {"publish", "task", "doctor"},
    "task": ALL | {"publish", "score"},
    "cli": ALL | {"bench", "doctor", "publish", "score", "task"},
    "python": ALL | {"publish", "score", "task"},
}
# Additional rooms that tests of a room may include; for example, engines are tested with whole models.
TESTS = {"publish": {"models"}, "engine/cpu": {"models"}, "engine/cuda": {"models"}}
# Header (regex) -> folders or file prefixes below src/ that may include it.
BACKENDS = [
    (r"(oneapi/)?dnnl|dnnl", ["engine/cpu/"]),
    (r"cudnn|cublas", ["engine/cuda/"]),
    (r"cuda_runtime|cuda\.h|cuda_", ["runtime/cuda/", "engine/cuda/", "dist/nccl"]),
    (r"mpi\.h", ["tests/mpi_abi/"]),
    (r"nccl\.h", ["dist/"]),
    (r"dcmtk/|openjpeg", ["data/codec/dicom/"]),
]
SLOW = ["CLI/", "nlohmann/", "spdlog/", "toml++/"]
# Calls that print, and the files that may contain them.
PRINTS = re.compile(r"\bfmt::print\(|\bstd::(cout|cerr|clog)\b|\b(f?printf|fputs|puts|putchar|fwrite)\(")
PRINTERS = ("core/terminal.cpp", "cli/mpirun_output.h")
# Calls of Arena::host() and DeviceSpan::host(), and where they may be: engines that compute on the host.
HOST_MEMORY = re.compile(r"(\.|->)host\(\)")
HOST_ROOMS = ("engine/cpu/", "engine/reference/", "engine/arena.h")
# Uses of DeviceSpan::address, and the rooms that may pass it to kernels and collectives.
DEVICE_ADDRESS = re.compile(r"(\.|->)address\b")
DEVICE_ROOMS = ("engine/", "runtime/", "dist/")
# Names of backends, their libraries and instruction sets, which the part of compiling that engines share must not know.
BACKEND_NAME = re.compile(r"cpu|gpu|cuda|cudnn|cublas|cutlass|nvidia|nccl|onednn|dnnl|mkl|highway|hwy|omp_|openmp|"
                          r"avx|amx|vnni|neon|\bsse|\bsimd", re.IGNORECASE)
NEUTRAL_ROOM = "engine/plan/"
LONGEST = 400
LINES_PER_IF = 1000

_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
_IF = re.compile(r"^\s*#\s*(if|ifdef|ifndef)\b")
# Macros of Highway, which compiles a file once per instruction set. #if with these macros is allowed.
_HIGHWAY_IF = re.compile(r"HWY_ONCE|HWY_TARGET_TOGGLE")


def room_of(path):
    """The room of a path below src/: "engine/cpu" for engine/cpu/x.cpp, "engine" for engine/x.cpp."""
    parts = path.split("/")
    nested = "/".join(parts[:2])
    return nested if nested in ROOMS and len(parts) > 2 else parts[0]


def check_include(path, kind, header, src):
    """Findings about one include of the file src/`path`."""
    if ".." in header.split("/"):
        return [f"includes {header}: expected a root-relative path"]
    if kind == "<":
        for pattern, allowed in BACKENDS:
            if re.match(pattern, header) and not any(path.startswith(prefix) for prefix in allowed):
                return [f"includes <{header}>: expected only in {', '.join(allowed)}"]
        return []
    if (src.parent / "cmake" / header).with_suffix(".cmake").is_file():
        return []  # written into the build folder by that script
    if not (src / header).is_file():
        return [f'includes "{header}": expected a file below src/']
    room, target = room_of(path), room_of(header)
    allowed = ROOMS[room] | (TESTS.get(room, set()) if path.endswith("_test.cpp") else set())
    if target not in allowed | {room}:
        return [f'includes "{header}": room {room} may include {", ".join(sorted(allowed)) or "no other room"}']
    return []


def check_form(path, lines):
    """Findings about the form of a file."""
    findings = []
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        findings.append("expected the two SPDX lines first")
    if path.endswith("-inl.h"):
        if not any("HWY_TARGET_TOGGLE" in line for line in lines):
            findings.append("expected a guard by HWY_TARGET_TOGGLE")
    elif path.endswith(".h") and sum(line.strip() == "#pragma once" for line in lines) != 1:
        findings.append("expected #pragma once, once")
    if len(lines) > LONGEST and not any("Over 400 lines:" in line for line in lines[:20]):
        findings.append(f"expected at most {LONGEST} lines or a comment with the reason, got {len(lines)}")
    if path.endswith(".h"):
        findings += ["using namespace in a header" for line in lines if re.match(r"\s*using namespace ", line)]
    return findings


def check_prints(path, lines):
    """Findings about lines that print past core/terminal."""
    if path.endswith(("_test.cpp", "_testing.h", *PRINTERS)):
        return []
    return [f"line {number} prints: expected terminal::print() and its like (core/terminal.h)"
            for number, line in enumerate(lines, 1) if PRINTS.search(line)]


def check_arenas(path, lines):
    """Findings about lines with a host pointer into an arena, whose memory may be on a device."""
    if path.endswith(("_test.cpp", "_testing.h")):
        return []
    rules = [(HOST_MEMORY, HOST_ROOMS, "upload(), download() or device()"),
             (DEVICE_ADDRESS, DEVICE_ROOMS, "upload() or download()")]
    return [f"line {number} points into an arena: expected {remedy} (engine/arena.h)"
            for pattern, rooms, remedy in rules if not path.startswith(rooms)
            for number, line in enumerate(lines, 1) if pattern.search(line)]


def check_backends(path, lines):
    """Findings about lines in engine/plan, which all engines share, that name a backend."""
    if not path.startswith(NEUTRAL_ROOM) or path.endswith(("_test.cpp", "_testing.h")):
        return []
    return [f"line {number} names a backend: expected a word that holds for every engine"
            for number, line in enumerate(lines, 1) if BACKEND_NAME.search(line)]


def check_sources(root):
    """Findings about src/ and the number of lines and of #if."""
    src = root / "src"
    findings, slow, line_count, conditions = [], {}, 0, []
    for file in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cpp", ".cu")):
        path = file.relative_to(src).as_posix()
        lines = file.read_text(encoding="utf-8").splitlines()
        line_count += len(lines)
        found = [finding for check in (check_form, check_prints, check_arenas, check_backends)
                 for finding in check(path, lines)]
        if room_of(path) not in ROOMS:
            found.append(f"lies in no room: expected one of {', '.join(ROOMS)}")
            lines = []
        for number, line in enumerate(lines, 1):
            include = _INCLUDE.match(line)
            if include:
                found += check_include(path, include[1], include[2], src)
                for prefix in SLOW:
                    if include[2].startswith(prefix):
                        slow.setdefault(prefix, set()).add(path)
            elif _IF.match(line) and not _HIGHWAY_IF.search(line):
                conditions.append(f"{path}:{number}")
        findings += [f"src/{path}: {text}" for text in found]
    for prefix, users in slow.items():
        if len(users) > 1 or any(user.endswith(".h") for user in users):
            findings.append(f"<{prefix}…>: expected in one .cpp, got {', '.join(sorted(users))}")
    if len(conditions) > max(2, line_count // LINES_PER_IF):
        findings.append(f"expected fewer than one #if per {LINES_PER_IF} lines, got {len(conditions)} in {line_count}: "
                        + ", ".join(conditions))
    return findings, line_count, len(conditions)


def check_others(root):
    """Findings about SPDX lines of all files except the C++ sources of src/."""
    files = [p for folder in ("tests", "tools", "cmake") for p in (root / folder).rglob("*")
             if p.suffix in (".h", ".cpp", ".py", ".sh", ".cmake") or p.name == "CMakeLists.txt"]
    return [f"{p.relative_to(root)}: {text}" for p in sorted(files) if p.is_file()
            for text in check_form(p.name, p.read_text(encoding="utf-8").splitlines())]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    findings, line_count, conditions = check_sources(root)
    findings += check_others(root)
    for finding in findings:
        print(finding)
    print(f"borders: {line_count} lines in src, {conditions} #if, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
