#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Lists the third-party libraries in a wheel or tarball: packages, versions, licences, lowest glibc.

  tools/bundle.py BUILD          prints the SBOM (CycloneDX 1.5, JSON) of the wheel and the tarball of a build
  tools/bundle.py --copyright    prints the copyright file of Debian packages (DEP-5), with the notices of the headers
                                 that are compiled into the program; Debian provides the libraries

Libraries come from the loader (ldd), packages and licence texts from Debian's package database. A package without an
entry in LICENSES is an error, so that nothing is shipped whose licence nobody has read.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOOLS = SOURCE / "build" / "python" / "bin"  # of tools/python_env.sh
# Libraries that wheels use from the machine (PEP 600): those of glibc, GCC and C++, and zlib.
MACHINE = {"libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
           "libstdc++.so.6", "libz.so.1"}
# Debian package without the number of its ABI: licence as an SPDX expression, read in the package's copyright file.
LICENSES = {
    "libcli11-dev": "BSD-3-Clause", "libdcmtk": "BSD-3-Clause AND Apache-2.0 AND IJG",
    "libdnnl": "Apache-2.0 AND BSD-3-Clause",
    "libfmt": "MIT", "libgomp": "GPL-3.0-or-later WITH GCC-exception-3.1", "libhwloc": "BSD-3-Clause",
    "libhwy": "Apache-2.0", "libicu": "Unicode-DFS-2016", "libisal": "BSD-3-Clause", "liblzma": "LicenseRef-public-domain",
    "libopenjp2-": "BSD-2-Clause", "libspdlog": "MIT", "libspng": "BSD-2-Clause AND libpng-2.0", "libssl": "Apache-2.0",
    "libtomlplusplus": "MIT", "libturbojpeg": "BSD-3-Clause AND IJG AND Zlib",
    "libudev": "LGPL-2.1-or-later", "libxml": "MIT AND ISC", "libxxhash": "BSD-2-Clause", "nanobind": "BSD-3-Clause",
    "nlohmann-json3-dev": "MIT", "ocl-icd-libopencl": "BSD-2-Clause", "robin-map": "MIT",
}
# Packages with headers only. The headers of fmt, spdlog, toml++, Highway and xxHash have the licences of their
# libraries.
COMPILED_IN = ("libcli11-dev", "nlohmann-json3-dev")
DOCUMENTS = pathlib.Path("/usr/share/doc")
COMMON = pathlib.Path("/usr/share/common-licenses")

# purl: name of the package in SBOMs; notice: file with copyright and licence; files: names of its libraries.
Component = collections.namedtuple("Component", "name version license purl notice files")


def fail(text):
    sys.exit(f"[bundle] {text}")


def output(*command):
    """Standard output of a command. Fails if the command fails."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def linked(binary):
    """Libraries that the loader opens for a program or library, as {soname: path}, without those of the machine."""
    found = dict(re.findall(r"^\s+(\S+) => (/\S+) \(", output("ldd", binary), re.MULTILINE))
    return {name: pathlib.Path(path).resolve() for name, path in found.items() if name not in MACHINE}


def linked_of_wheel(build):
    """Result of linked() for the program and the Python module together."""
    return {**linked(build / "roentgen"), **linked(build / "_native.abi3.so")}


def package_of(path):
    """Debian package that contains a file. Older packages name /lib for files in /usr/lib."""
    for known in (str(path), str(path).removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "-S", known], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return fail(f"{path}: expected a file of a Debian package, got none; try the packages of tools/setup.sh")


def license_of(package):
    """Licence of a package as an SPDX expression."""
    name = package if package in LICENSES else re.sub(r"[\d.]+$", "", package)
    if name not in LICENSES:
        fail(f"{package}: expected its licence in tools/bundle.py, got none; read {DOCUMENTS / package / 'copyright'}")
    return LICENSES[name]


def debian_component(package, files):
    version = output("dpkg-query", "-W", "-f", "${Version}", package)
    quoted = urllib.parse.quote(version, safe="~")
    return Component(package, version, license_of(package), f"pkg:deb/debian/{package}@{quoted}",
                     DOCUMENTS / package / "copyright", files)


def module_headers():
    """Components whose headers are compiled into the Python module: nanobind, and robin-map, which it contains."""
    folder = next((TOOLS.parent / "lib").glob("python3*/site-packages/nanobind-*.dist-info"), None)
    if folder is None:
        fail(f"{TOOLS.parent}: expected nanobind, got none; try tools/python_env.sh")
    version = folder.name.removeprefix("nanobind-").removesuffix(".dist-info")
    headers = folder.parent / "nanobind/ext/robin_map/include/tsl"
    robin_map = ".".join(re.findall(r"#define TSL_RH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                                    (headers / "robin_growth_policy.h").read_text(encoding="utf-8")))
    return [Component("nanobind", version, license_of("nanobind"), f"pkg:pypi/nanobind@{version}",
                      folder / "licenses" / "LICENSE", ()),
            Component("robin-map", robin_map, license_of("robin-map"), f"pkg:github/tessil/robin-map@{robin_map}",
                      headers / "robin_map.h", ())]


def notice_of(part):
    """Text of a component's notice; for a header its first comment."""
    text = part.notice.read_text(encoding="utf-8")
    return text.partition("*/")[0] + "*/\n" if part.notice.suffix == ".h" else text


def components(libraries):
    """Components of {soname: path} and of the compiled-in headers, sorted by name."""
    files = {package: [] for package in COMPILED_IN}
    for path in libraries.values():
        files.setdefault(package_of(path), []).append(path.name)
    return [debian_component(package, tuple(sorted(files[package]))) for package in sorted(files)]


def notices(parts):
    """One text with copyright and licence of every component, and the full licences to which Debian's files refer."""
    texts = {f"{part.name} {part.version}": notice_of(part) for part in parts}
    named = set(re.findall(rf"{COMMON}/([\w.-]*\w)", "\n".join(texts.values())))
    for name in sorted({(COMMON / name).resolve().name for name in named if (COMMON / name).is_file()}):
        texts[name] = (COMMON / name).read_text(encoding="utf-8")
    line = "=" * 80
    head = "Roentgen is under the Apache License 2.0. It contains these works of others:\n\n"
    contents = "".join(f"  {part.name} {part.version}: {part.license}\n" for part in parts)
    return head + contents + "".join(f"\n{line}\n{name}\n{line}\n{text}" for name, text in texts.items())


def debian_copyright(parts):
    """Copyright file of Debian packages in machine-readable form (DEP-5). The notices of the parts are a comment in its
    header."""
    comment = "".join(f" {line}\n" if line.strip() else " .\n" for line in notices(parts).splitlines())
    return ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: roentgen\n"
            f"Comment:\n{comment}\nFiles: *\nCopyright: {time.gmtime().tm_year} The Roentgen authors\n"
            f"License: Apache-2.0\n On Debian systems, its text is in {COMMON / 'Apache-2.0'}.\n")


def sbom(version, parts):
    """SBOM of a release as a CycloneDX 1.5 document."""
    own = f"pkg:generic/roentgen@{version}"
    listed = []
    for part in parts:
        entry = {"type": "library", "bom-ref": part.purl, "name": part.name, "version": part.version, "purl": part.purl,
                 "licenses": [{"expression": part.license}]}
        if part.files:
            entry["properties"] = [{"name": "roentgen:file", "value": name} for name in part.files]
        listed.append(entry)
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "bom-ref": own, "name": "roentgen", "version": version,
                                       "purl": own, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": listed, "dependencies": [{"ref": own, "dependsOn": [part.purl for part in parts]}]}


def project_version():
    return re.search(r"project\(roentgen VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def lowest(files, prefix):
    """Lowest version of a library that has all symbols used by the files: "2.34" for the prefix "GLIBC_2."."""
    versions = re.findall(rf"\b{re.escape(prefix)}(\d+)\b", output("readelf", "-VW", *files))
    return prefix.split("_")[1] + max(versions, key=int)


def commit_seconds():
    """Timestamp of files in archives: $SOURCE_DATE_EPOCH, or the time of the commit HEAD."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", SOURCE, "log", "-1", "--format=%ct"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--copyright":
        print(debian_copyright(components({})), end="")
        sys.exit()
    build = pathlib.Path(sys.argv[1])
    print(json.dumps(sbom(project_version(), [*components(linked_of_wheel(build)), *module_headers()]), indent=1))
