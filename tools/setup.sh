#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Installs what Roentgen needs to build, test and lint. Idempotent: does nothing when everything is there.
# Debian 12 / Ubuntu: through apt. Elsewhere: prints what to install.
#   tools/setup.sh             everything
#   tools/setup.sh --minimal   only what the build itself needs (no MPI, DICOM, ONNX, LMDB, lint tools)
set -euo pipefail

required=(g++ cmake ninja-build pkg-config git python3
  libdnnl-dev libisal-dev libspng-dev libpng-dev libturbojpeg0-dev libhwy-dev libhwloc-dev
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libxxhash-dev libssl-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev)
optional=(libopenmpi-dev openmpi-bin libdcmtk-dev libopenjp2-7-dev liblmdb-dev libonnx-dev libprotobuf-dev
  protobuf-compiler clang-format clang-tidy)

packages=("${required[@]}")
if [ "${1:-}" != "--minimal" ]; then packages+=("${optional[@]}"); fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  cat >&2 <<TEXT
[setup.packages] package manager: expected apt (Debian 12, Ubuntu 22.04 or later), got another system; try installing by hand:
  required: a C++20 compiler, CMake >= 3.25, Ninja, pkg-config, Python 3; oneDNN 2.6 (CPU, OpenMP), ISA-L, libspng, libpng,
            libjpeg-turbo (TurboJPEG), Highway, hwloc, CLI11, toml++, nlohmann-json, spdlog, fmt, xxhash, OpenSSL (libcrypto);
            for tests GoogleTest, Google Benchmark, RapidCheck
  optional: an MPI, DCMTK, OpenJPEG, LMDB, ONNX (libonnx), protobuf, clang-format and clang-tidy 14, CUDA toolkit with cuDNN and NCCL
then run: cmake --preset release && cmake --build --preset release
TEXT
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [ "$status" != "installed" ]; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "[setup.packages] installing ${missing[*]}: expected root or sudo, got neither; try asking your administrator for these packages" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "setup: done"
