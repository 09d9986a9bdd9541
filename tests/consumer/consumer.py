#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks an installation of a build: its program, its library and its headers. Exits 1 with the reason.

  consumer.py BUILD install   installs BUILD into BUILD/consumer/prefix and draws images there; the other checks read both
  consumer.py BUILD files     program, recipes, man pages, completion, libraries, licence are there; none needs an MPI library
  consumer.py BUILD exports   the shared library exports names of roentgen alone
  consumer.py BUILD headers   every header compiles alone
  consumer.py BUILD shared    main.cpp, built against the shared library, trains and scores
  consumer.py BUILD static    the same with the static library
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent
COMPLETION = "share/bash-completion/completions/roentgen"
FILES = ["bin/roentgen", "share/roentgen/recipes/default.toml", "share/man/man1/roentgen.1",
         "share/man/man1/roentgen-train.1", COMPLETION, "share/zsh/site-functions/_roentgen", "share/doc/roentgen/LICENSE"]
LIBRARIES = ["libroentgen.so", "libroentgen.a"]
# Functions, data, types, thunks and statics of namespace roentgen.
OURS = re.compile(r"_Z(T[VTIS]|Th\w+?_|Tv\w+?_|GV)?Z?N[KRO]*8roentgen")
MPI = re.compile(r"lib(mpi|mpich|open-rte|open-pal|pmix)\w*\.so\S*")
# A label's row of the table of AUROCs, and the row of the mean.
ROW = re.compile(r"^(\S+) +(0\.\d{4}|1\.0000) ", re.MULTILINE)
MEAN = re.compile(r"^mean over 14 of 14 +(0\.\d{4}) ", re.MULTILINE)


def fail(text):
    """Ends the check."""
    sys.exit(f"[consumer] {text}")


def run(*command):
    """Output of a command, which has to succeed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: expected success, got {done.returncode}\n{done.stdout}")
    return done.stdout


def library(prefix, name):
    """Path of a library. The name of the folder for libraries depends on the system."""
    found = sorted(prefix.glob(f"lib*/{name}")) + sorted(prefix.glob(f"lib*/*/{name}"))
    if not found:
        fail(f"{prefix}: expected {name}, got none")
    return found[0]


def install(build, prefix):
    """Installs into an empty prefix; draws the images of the consumers."""
    shutil.rmtree(build / "consumer", ignore_errors=True)
    run("cmake", "--install", build, "--prefix", prefix)
    run(prefix / "bin/roentgen", "synth", build / "consumer/data", "--images", "1000", "--size", "64", "--threads", "1")


def check_files(_, prefix):
    """Checks that the files of a user exist, and that the program runs."""
    for name in FILES:
        if not (prefix / name).is_file():
            fail(f"{prefix}: expected {name}, got none")
    for name in LIBRARIES:
        library(prefix, name)
    leaked = [path for path in prefix.rglob("*.h") if path.name.endswith(("_testing.h", "-inl.h")) or "cpu" in path.parts]
    if leaked:
        fail(f"{leaked[0]}: expected public headers alone")
    for needed in (prefix / "bin/roentgen", library(prefix, "libroentgen.so")):
        if MPI.search(run("ldd", needed)):
            fail(f"{needed}: expected no MPI library among those it needs, got {MPI.search(run('ldd', needed))[0]}")
    completed = run("bash", "-c", f"source '{prefix / COMPLETION}'; COMP_WORDS=(roentgen train --rec); COMP_CWORD=2; _roentgen; "
                    'echo "${COMPREPLY[@]}"')
    if completed.split() != ["--recipe", "--recompute"]:
        fail(f"completion of train --rec: expected --recipe --recompute, got {completed}")
    if not run(prefix / "bin/roentgen", "--version").strip():
        fail("roentgen --version: expected a version, got nothing")


def check_exports(_, prefix):
    """Every defined dynamic symbol is of namespace roentgen, and what a program needs is among them."""
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library(prefix, "libroentgen.so")).splitlines()]
    names = [name for name in names if not name.startswith("ROENTGEN_")]
    foreign = [name for name in names if not OURS.match(name)]
    if foreign or not any("8roentgen5train5train" in name for name in names):
        fail(f"libroentgen.so: expected symbols of roentgen alone, got {len(names)}, of them foreign: {foreign[:5]}")


def check_headers(_, prefix):
    """Compiles every header as a source file of its own."""
    include = prefix / "include"
    headers = sorted(include.rglob("*.h"))
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", include, "-x", "c++", "/dev/null"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda header: run(*command, "-include", header), headers))
    print(f"{len(headers)} headers")


def check_consumer(build, prefix, kind):
    """Builds main.cpp as somebody else's project would, and runs it on the images that the program drew."""
    work = build / "consumer" / kind
    shutil.rmtree(work, ignore_errors=True)
    run("cmake", "-S", SOURCE, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DSTATIC={'ON' if kind == 'static' else 'OFF'}", "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
    run("cmake", "--build", work / "build")
    text = run(work / "build/consumer", build / "consumer/data", work / "run")
    print(text)
    mean = MEAN.search(text)
    if len(ROW.findall(text)) != 14 or mean is None or float(mean[1]) <= 0.5:
        fail(f"expected a row for each of 14 findings, and a mean that beats chance, got\n{text}")
    if not (work / "run/checkpoints/best.safetensors").is_file():
        fail(f"{work / 'run'}: expected a checkpoint, got none")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    prefix = build / "consumer" / "prefix"
    check = sys.argv[2]
    if check in ("shared", "static"):
        check_consumer(build, prefix, check)
    else:
        {"install": install, "files": check_files, "exports": check_exports, "headers": check_headers}[check](build, prefix)


if __name__ == "__main__":
    main()
