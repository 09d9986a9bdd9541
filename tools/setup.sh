#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Installs what Roentgen needs to build, test and lint. Idempotent: does nothing when everything is there.
# Debian 12: through apt. Elsewhere: prints what to install.
#   tools/setup.sh             what `make build`, `make test` and `make lint` need
#   tools/setup.sh --minimal   without the lint tools
#   tools/setup.sh --build     what the program and its Debian package need alone: no tests, no Python package
#   tools/setup.sh --fuzz      what `make fuzz` needs: without the lint tools, with clang
#   tools/setup.sh --docs      what `make docs-api` needs: without the lint tools, with Doxygen
#   tools/setup.sh --schedulers  also Slurm and MPICH, for jobs on a one-node cluster (ctest -R Schedulers, ctest -L mpich)
#   tools/setup.sh --all       also what planned parts will use: ONNX
#   tools/setup.sh --prefix DIR  without root: unpacks a tarball of Roentgen into DIR where one was made, and otherwise
#                                says how to get Roentgen there
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config
  libdnnl-dev libisal-dev libspng-dev zlib1g-dev libturbojpeg0-dev libhwy-dev libhwloc-dev
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libxxhash-dev libssl-dev
  libdcmtk-dev libopenjp2-7-dev)
debian=(git dpkg-dev file python3)  # the commit for --version, and CPack's packages
tests=(python3-dev python3-venv libopenmpi-dev openmpi-bin libgtest-dev libgmock-dev librapidcheck-dev ccache)
lint=(clang-format clang-tidy)
planned=(libonnx-dev libprotobuf-dev protobuf-compiler)
fuzz=(clang-14 libclang-rt-14-dev libomp-14-dev)
docs=(doxygen)
schedulers=(slurm-wlm mpich)  # mpirun stays that of Open MPI, whose alternative has the higher priority

missing_packages() {
  local package status
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    if [ "$status" != "installed" ]; then printf '%s\n' "$package"; fi
  done
}

# Unpacks a tarball and starts its program: the machine may have an older glibc or C++ library.
unpack() {
  local tarball=$1 folder=$2 glibc said
  mkdir -p "$folder"
  tar -xzf "$tarball" -C "$folder" --strip-components=1
  if said=$("$folder/bin/roentgen" --version 2>&1); then
    echo "setup: unpacked $tarball: $folder/bin/roentgen, ${said%%$'\n'*}"
    return
  fi
  glibc=${tarball##*-glibc}
  echo "[setup.tarball] $folder/bin/roentgen: expected a machine with glibc ${glibc%.tar.gz} and the C++ library of GCC 12" \
    "or later, got \"${said%%$'\n'*}\"; try another way of docs/guide/install.md, or a module of GCC 12" >&2
  exit 1
}

# Without root: unpacks a tarball if there is one, otherwise prints the ways to install Roentgen, shortest first.
without_root() {
  local folder=$1 tarball
  for tarball in "${ROENTGEN_PACKAGES:-build/packages}"/roentgen-*-linux-x86_64-*.tar.gz; do
    if [ -f "$tarball" ]; then
      unpack "$tarball" "$folder"
      return
    fi
  done
  local quoted
  printf -v quoted '%q' "$folder"
  cat <<TEXT
To have Roentgen in $folder without root:
  1. a tarball, made by \`make tarball\` on any Debian 12 or taken from a release; nothing is built:
       mkdir -p $quoted && tar -xzf roentgen-*-linux-x86_64-*.tar.gz -C $quoted --strip-components=1
  2. a wheel, made by \`make wheel\` or taken from a release, with Python 3.10 or later:
       python3 -m venv $quoted && $quoted/bin/pip install roentgen_xray-*.whl
TEXT
  if command -v dpkg-query >/dev/null && [ -z "$(missing_packages)" ]; then
    cat <<TEXT
  3. built here; all packages that it takes are installed:
       cmake --preset release -DRG_TESTS=OFF -DRG_PYTHON_PACKAGE=OFF
       cmake --build build/release --target roentgen roentgen_shared roentgen_static
       cmake --install build/release --prefix $quoted
TEXT
    return
  fi
  cat <<TEXT
  3. built with Spack, which builds what is missing as well, in about an hour (untried):
       spack -e deploy/spack install && spack env activate deploy/spack
  4. built from conda-forge's packages (untried):
       rattler-build build --recipe-dir deploy/conda -c conda-forge
       micromamba create -p $quoted -c ./output -c conda-forge roentgen
docs/guide/install.md has more.
TEXT
}

finish=tools/python_env.sh
case "${1:-}" in
  "") packages+=("${debian[@]}" "${tests[@]}" "${lint[@]}") ;;
  --minimal) packages+=("${debian[@]}" "${tests[@]}") ;;
  --build) packages+=("${debian[@]}") finish=true ;;
  --fuzz) packages+=("${debian[@]}" "${tests[@]}" "${fuzz[@]}") ;;
  --docs) packages+=("${debian[@]}" "${tests[@]}" "${docs[@]}") ;;
  --schedulers) packages+=("${debian[@]}" "${tests[@]}" "${schedulers[@]}") ;;
  --all) packages+=("${debian[@]}" "${tests[@]}" "${lint[@]}" "${planned[@]}") ;;
  --prefix)
    if [ $# -ne 2 ] || [ -z "$2" ]; then
      echo "[setup.options] --prefix: expected a folder, got $(($# - 1)) words;" \
        "try tools/setup.sh --prefix \$HOME/roentgen" >&2
      exit 1
    fi
    without_root "$2"
    exit
    ;;
  *)
    echo "[setup.options] $1: expected --minimal, --build, --fuzz, --docs, --schedulers, --all, --prefix DIR or nothing, got another word;" \
      "try tools/setup.sh" >&2
    exit 1
    ;;
esac

by_hand() {
  cat >&2 <<TEXT
[setup.packages] $1: expected Debian 12, got another system; try installing by hand:
  to build: a C++20 compiler, CMake >= 3.25, Ninja, pkg-config, Python 3; oneDNN 2.6 or 2.7 (CPU, OpenMP), ISA-L, libspng,
            zlib, libjpeg-turbo (TurboJPEG), Highway, hwloc, CLI11, toml++, nlohmann-json, spdlog, fmt, xxhash,
            OpenSSL (libcrypto)
  to test:  GoogleTest, RapidCheck
  to build again in less time: ccache
  to lint:  clang-format and clang-tidy 14
  to fuzz:  clang 14 with its sanitizers, libFuzzer and OpenMP
  for the API reference: Doxygen 1.9
  for DICOM: DCMTK 3.6, OpenJPEG 2.5
  for several processes, when they run: Open MPI 3 or later, or MPICH 3.1 or later, or Intel MPI
  where there is a GPU: CUDA toolkit 12
then run: cmake --preset release && cmake --build --preset release
without root, or without building: tools/setup.sh --prefix DIR
TEXT
  exit 1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then by_hand "package manager"; fi

mapfile -t missing < <(missing_packages)
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exec "$finish"
fi

# Other releases have other versions of oneDNN and CMake, which were not tested.
release=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}" || true)
if [ "$release" != "debian 12" ]; then by_hand "missing ${missing[*]}"; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "[setup.packages] installing ${missing[*]}: expected root or sudo, got neither;" \
      "try tools/setup.sh --prefix DIR, or ask your administrator for these packages" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "setup: done"
exec "$finish"
