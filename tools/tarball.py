#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Packs the program of a build with its libraries as a tarball that runs wherever it is unpacked, and prints its path.

  tools/tarball.py BUILD WHEEL OUT    as build/release build/packages/roentgen_xray-0.1.0-...whl build/packages

Program and libraries are those of the build's wheel (tools/wheel.py). The machine gives glibc, the C++ library and
zlib, as it does for wheels. The lowest version of glibc is part of the tarball's name.
"""
import gzip
import json
import pathlib
import shutil
import sys
import tarfile
import zipfile

import bundle
import wheel

LIBRARIES = pathlib.PurePath("lib/roentgen")


def stage(build, built_wheel, folder):
    """Fills a folder with program, man page, recipes, libraries, licences and SBOM. Returns program and libraries."""
    shutil.rmtree(folder, ignore_errors=True)
    wheel.run("cmake", "--install", build, "--component", "program", "--prefix", folder)
    (folder / LIBRARIES).mkdir(parents=True)
    with zipfile.ZipFile(built_wheel) as archive:
        (folder / "bin/roentgen").write_bytes(archive.read("roentgen/bin/roentgen"))
        for name in archive.namelist():
            if name.startswith(wheel.LIBRARIES) and not name.endswith("/"):
                (folder / LIBRARIES / pathlib.PurePath(name).name).write_bytes(archive.read(name))
    program = folder / "bin/roentgen"
    wheel.run(bundle.TOOLS / "patchelf", "--set-rpath", f"$ORIGIN/../{LIBRARIES}", program)
    documents = folder / "share/doc/roentgen"
    documents.mkdir(parents=True)
    parts = bundle.components(bundle.linked(build / "roentgen"))
    shutil.copy(bundle.SOURCE / "LICENSE", documents)
    (documents / wheel.NOTICES).write_text(bundle.notices(parts), encoding="utf-8")
    (documents / "sbom.cdx.json").write_text(json.dumps(bundle.sbom(bundle.project_version(), parts), indent=1))
    outside = {name for name, path in bundle.linked(program).items() if folder not in path.parents}
    if outside:
        bundle.fail(f"{program}: expected its libraries in {folder / LIBRARIES}, got others: {sorted(outside)}")
    return [program, *(folder / LIBRARIES).iterdir()]


def pack(folder, file):
    """Packs a folder under the tarball's name, with the same times and owners in every build of a commit."""
    seconds = bundle.commit_seconds()

    def same(member):
        member.mtime, member.uid, member.gid, member.uname, member.gname = seconds, 0, 0, "root", "root"
        return member
    with (open(file, "wb") as out, gzip.GzipFile("", "wb", 6, out, mtime=seconds) as packed,
          tarfile.open(fileobj=packed, mode="w") as archive):
        archive.add(folder, arcname=file.name.removesuffix(".tar.gz"), filter=same)


def main(build, built_wheel, out):
    out.mkdir(parents=True, exist_ok=True)
    folder = out / "work" / "tarball"
    glibc = bundle.lowest(stage(build, built_wheel, folder), "GLIBC_2.")
    for old in out.glob("roentgen-*.tar.gz"):
        old.unlink()
    file = out / f"roentgen-{bundle.project_version()}-linux-x86_64-glibc{glibc}.tar.gz"
    pack(folder, file)
    shutil.rmtree(out / "work")
    return file


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(main(*(pathlib.Path(word).resolve() for word in sys.argv[1:])))
