#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Makes the packages of a build and checks them like a user. Exits 1 with the reason.

  packages.py BUILD tarball   made of BUILD/wheels and unpacked elsewhere, it runs without variables, with the versions
                              of the machine's libraries that docs/guide/install.md states
  packages.py BUILD deb       dependencies, documents and files of the Debian packages
  packages.py BUILD lintian   no errors or warnings of Debian's checker about them
  packages.py BUILD gpu       the bundle for GPU machines (tools/gpu/bundle.sh) has all libraries, runs, and starts ranks

Exit code 77 and a line where this machine cannot make the package.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tools"))
import bundle
SKIPPED = 77
MPI = re.compile(r"lib(mpi|mpich|open-rte|open-pal|pmix)\w*\.so")
# CPack calls ldconfig in scripts, in addition to the trigger that Debian requires.
TOLERATED = "maintscript-calls-ldconfig"


def fail(text):
    sys.exit(f"[packages] {text}")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def run(*command, **options):
    """Output of a command, which has to succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: expected success, got {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_tarball(build):
    """Unpacks the tarball under another name and runs the program with no environment variable but HOME."""
    wheel = next((build / "wheels").glob("*.whl"), None)
    if wheel is None:
        skip("the build has no wheel (tools/wheel.py)")
    file = pathlib.Path(run(SOURCE / "tools/tarball.py", build, wheel, build / "tarball").strip())
    stated = re.search(r"needs glibc (2\.\d+) and version (3\.4\.\d+) of the C\+\+\s+library",
                       (SOURCE / "docs/guide/install.md").read_text(encoding="utf-8"))
    if stated is None:
        fail("docs/guide/install.md: expected the lowest glibc and C++ library of the tarball, found neither")
    if not file.name.endswith(f"-glibc{stated[1]}.tar.gz"):
        fail(f"{file.name}: expected glibc {stated[1]}, as docs/guide/install.md states")
    with tempfile.TemporaryDirectory() as place:
        moved = pathlib.Path(place) / "another name"
        with tarfile.open(file) as archive:
            archive.extractall(place)
        (pathlib.Path(place) / file.name.removesuffix(".tar.gz")).rename(moved)
        program = moved / "bin/roentgen"
        alone = {"HOME": place, "PATH": "/nonexistent", "OMP_NUM_THREADS": "1"}
        if not run(program, "--version", env=alone).startswith("roentgen "):
            fail("roentgen --version: expected a version")
        run(program, "synth", moved / "data", "--images", "20", "--size", "64", env=alone)
        if "Cardiomegaly" not in run(program, "inspect", "--data", moved / "data", env=alone):
            fail("roentgen inspect: expected the findings of the images that were drawn")
        binaries = [program, *(moved / "lib/roentgen").iterdir()]
        lowest = bundle.lowest(binaries, "GLIBCXX_3.4.")
        if lowest != stated[2]:
            fail(f"{file.name}: expected C++ library {stated[2]}, as docs/guide/install.md states, got {lowest}")
        linked = run("ldd", program)
        if MPI.search(linked):
            fail(f"expected no MPI library, got\n{linked}")
        documents = moved / "share/doc/roentgen"
        listed = json.loads((documents / "sbom.cdx.json").read_text())
        files = {entry["value"] for part in listed["components"] for entry in part.get("properties", [])}
        notices = (documents / "LICENSE.third-party").read_text(encoding="utf-8")
        for part in listed["components"]:
            if f"{part['name']} {part['version']}: " not in notices:
                fail(f"LICENSE.third-party: expected {part['name']}, got none")
        print(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB, {len(files)} libraries of others")


def make_deb(build, out):
    """Debian packages of a build: {name: file}."""
    if not shutil.which("dpkg-shlibdeps"):
        skip("no dpkg-shlibdeps (dpkg-dev)")
    shutil.rmtree(out, ignore_errors=True)
    run("cpack", "--config", build / "CPackConfig.cmake", "-B", out)
    return {file.name.split("_")[0]: file for file in out.glob("*.deb")}


def check_deb(build):
    """Reads the packages with dpkg-deb."""
    packages = make_deb(build, build / "deb")
    library = next((name for name in packages if re.fullmatch(r"libroentgen\d+\.\d+", name)), "")
    if set(packages) != {"roentgen", library, "libroentgen-dev"}:
        fail(f"{build}: expected roentgen, its library and its -dev, got {sorted(packages)}")
    for name, file in packages.items():
        files = run("dpkg-deb", "-c", file)
        for document in ("copyright", "changelog.gz"):
            if f"/usr/share/doc/{name}/{document}" not in files:
                fail(f"{file.name}: expected {document}, got none")
        control = run("dpkg-deb", "-f", file)
        if MPI.search(control) or re.search(r"^Depends:.*mpi", control, re.MULTILINE):
            fail(f"{file.name}: expected no MPI among what it depends on\n{control}")
    with tempfile.TemporaryDirectory() as place:
        run("dpkg-deb", "-x", packages["roentgen"], place)
        notices = (pathlib.Path(place) / "usr/share/doc/roentgen/copyright").read_text(encoding="utf-8")
        for library in bundle.COMPILED_IN:
            if f"  {library} " not in notices:
                fail(f"roentgen: expected the licence of {library} in its copyright, got none")
    needed = run("dpkg-deb", "-f", packages["roentgen"], "Depends")
    if "libdnnl" not in needed or "libc6 (>=" not in needed:
        fail(f"roentgen: expected the packages of its libraries, got {needed}")
    for wanted in ("usr/bin/roentgen", "usr/share/man/man1/roentgen.1.gz", "usr/share/man/man1/roentgen-train.1.gz",
                   "usr/share/bash-completion/completions/roentgen", "usr/share/roentgen/recipes/default.toml"):
        if wanted not in run("dpkg-deb", "-c", packages["roentgen"]):
            fail(f"roentgen: expected {wanted}, got none")
    print(", ".join(f"{file.name} {file.stat().st_size / 1e6:.1f} MB" for file in packages.values()))


def check_lintian(build):
    """Runs lintian, which takes half a minute."""
    if not shutil.which("lintian"):
        skip("no lintian")
    run("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", TOLERATED,
        *make_deb(build, build / "deb-lintian").values())


# Libraries that a GPU machine brings: glibc, GCC's, the driver, and CUDA's in PyTorch's wheels.
OF_GPU_MACHINE = re.compile(r"(ld-linux|lib(c|m|mvec|dl|rt|pthread|resolv)\.so|libstdc\+\+|libgcc_s|libcu|libnv|libnccl)")


def check_gpu(build):
    """Unpacks the bundle, follows the libraries of every file in it, and runs the program and mpirun there."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        run(SOURCE / "tools/gpu/bundle.sh", build, place / "out", "roentgen", env={**os.environ, "XZ_OPT": "-0 -T0"})
        moved = place / "another name"
        moved.mkdir()
        with tarfile.open(place / "out/bundle.tar.xz") as archive:
            archive.extractall(moved)
        for file in sorted(each for each in moved.rglob("*") if each.is_file() and not each.is_symlink()):
            if file.open("rb").read(4) != b"\x7fELF":
                continue
            linked = run("ldd", file, env={**os.environ, "LD_LIBRARY_PATH": str(moved / "lib")})
            for name, found in re.findall(r"^\s+(\S+) => (.+)", linked, re.MULTILINE):
                if not OF_GPU_MACHINE.match(name) and not found.startswith(str(moved / "lib")):
                    fail(f"{file.relative_to(moved)}: expected {name} in the bundle, got {found}")
        for script in ("check.sh", "check_ranks.sh", "jobs.sh", "accuracy.sh", "check_table.py", "check_ranks.py"):
            if not os.access(moved / script, os.X_OK):
                fail(f"bundle: expected {script}, got none")
        def there(command):
            return run("bash", "-c", f". './{moved.name}/env.sh' && {command}", cwd=place)
        for command in ("roentgen --version", "mpirun --oversubscribe -np 2 roentgen --version"):
            if not there(command).startswith("roentgen "):
                fail(f"{command}: expected a version")
        for tool in ("roentgen", "mpirun", "orted"):
            if there(f"command -v {tool}").strip() != str(moved / "bin" / tool):
                fail(f"{tool}: expected that of the bundle")
        print(f"bundle.tar.xz: {len(list((moved / 'lib').iterdir()))} libraries")


CHECKS = {"tarball": check_tarball, "deb": check_deb, "lintian": check_lintian, "gpu": check_gpu}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CHECKS:
        sys.exit(__doc__)
    os.environ.pop("LD_LIBRARY_PATH", None)
    CHECKS[sys.argv[2]](pathlib.Path(sys.argv[1]).resolve())
