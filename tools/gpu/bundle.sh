#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Packs the program and GPU tests of a build with the libraries that they load, for a GPU machine without Debian's
# packages. CUDA's libraries come from PyTorch's wheels there, the C and C++ libraries from its system.
#
#   tools/gpu/bundle.sh BUILD OUT [EXECUTABLE...]     writes OUT/bundle.tar.xz; default: roentgen, and kernels_bench and
#                                                     every *_gpu_test if built
#
# ROENTGEN_KERMANY=DIR packs a small copy of that data set for accuracy.sh. The bundle must stay below 64 MiB.
#
# On the GPU machine:
#   mkdir -p DIR && tar -xJf bundle.tar.xz -C DIR && . DIR/env.sh
#   roentgen doctor;  DIR/check.sh OUT;  DIR/accuracy.sh OUT
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: tools/gpu/bundle.sh BUILD OUT [EXECUTABLE...]" >&2; exit 2; }
build=$(realpath "$1")
out=$2
shift 2
programs=("$@")
if [ ${#programs[@]} -eq 0 ]; then
  programs=(roentgen)
  for each in "$build"/kernels_bench "$build"/*_gpu_test; do [ -x "$each" ] && programs+=("${each##*/}"); done
fi
for program in "${programs[@]}"; do
  [ -x "$build/$program" ] || { echo "[bundle] $build/$program: no such executable; build it first" >&2; exit 1; }
done

# Libraries that the GPU machine brings: glibc, GCC's, the driver, CUDA's.
from_machine='^(ld-linux|lib(c|m|mvec|dl|rt|pthread|resolv)\.so|libstdc\+\+|libgcc_s|libcu|libnv|libnccl)'
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/bin" "$stage/lib" "$out"

add_libraries() {  # FILE...: the libraries that the loader opens for them
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u | while read -r name path; do
    [[ $name =~ $from_machine || -e $stage/lib/$name ]] || install -m 644 "$(realpath "$path")" "$stage/lib/$name"
  done
}

for program in "${programs[@]}"; do
  install -m 755 "$build/$program" "$stage/bin/$program"
  strip --strip-unneeded "$stage/bin/$program"
  add_libraries "$build/$program"
done

# Open MPI: its launcher, daemon, library, the components that it loads at run time, and its texts.
library=$(ldconfig -p | awk '/libmpi\.so\.40 / && !found++ {print $NF}')
components=$(dirname "$library")/openmpi/lib/openmpi3
if [ -d "$components" ]; then
  mkdir -p "$stage/openmpi/bin" "$stage/openmpi/${components#/usr/}" "$stage/openmpi/share"
  for tool in orterun orted; do install -m 755 "$(realpath "$(command -v $tool)")" "$stage/openmpi/bin/$tool"; done
  ln -s orterun "$stage/openmpi/bin/mpirun"
  ln -s ../openmpi/bin/mpirun ../openmpi/bin/orted "$stage/bin/"
  install -m 644 "$(realpath "$library")" "$stage/lib/libmpi.so.40"
  install -m 644 "$components"/mca_*.so "$stage/openmpi/${components#/usr/}/"
  add_libraries "$stage"/openmpi/bin/orterun "$stage"/openmpi/bin/orted "$library" "$components"/mca_*.so
  cp -rL /usr/share/openmpi "$stage/openmpi/share/"
else
  echo "[bundle] Open MPI: expected libmpi.so.40 and its components, got none; check_ranks.sh will fail there" >&2
fi

cat > "$stage/env.sh" <<'ENV'
# Source this file: . DIR/env.sh
ROENTGEN_BUNDLE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
_site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null || true)
_cuda=
for _folder in "$_site"/nvidia/*/lib; do [ -d "$_folder" ] && _cuda=$_cuda:$_folder; done
export LD_LIBRARY_PATH=$ROENTGEN_BUNDLE/lib$_cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$ROENTGEN_BUNDLE/bin:$PATH OPAL_PREFIX=$ROENTGEN_BUNDLE/openmpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset _site _cuda _folder
ENV

# The checks, with the files that they and the tests read.
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
install -m 755 "$source_dir"/tools/gpu/{check,accuracy,jobs}.sh "$source_dir"/tools/gpu/{check_table,accuracy_table}.py \
  "$source_dir"/tools/gpu/{check_ranks.sh,check_ranks.py,card_properties.py} "$stage/"
mkdir -p "$stage/source/tools/peers" "$stage/source/tests/golden"
install -m 644 "$source_dir"/tools/peers/{gpu_torch,one_line_errors}.py "$source_dir"/tools/peers/requirements.txt \
  "$stage/source/tools/peers/"
install -m 644 "$source_dir"/tests/golden/cuda_bits.csv "$stage/source/tests/golden/"
# A data set for accuracy.sh, at the side that recipes/kermany.toml trains on.
if [ -n "${ROENTGEN_KERMANY:-}" ]; then
  mkdir "$stage/data"
  "$build/roentgen" convert "$ROENTGEN_KERMANY" "$stage/data/kermany" --to png --resize 64 --encode png \
    --set data.source=csv --set data.labels=pneumonia
fi
XZ_OPT=${XZ_OPT:--3 -T0} tar -cJf "$out/bundle.tar.xz" -C "$stage" .
size_mib=$(($(stat -c %s "$out/bundle.tar.xz") / 1048576))
echo "$out/bundle.tar.xz: $size_mib MiB, ${programs[*]}"
if [ "$size_mib" -ge 64 ]; then echo "[bundle] $out/bundle.tar.xz: expected less than 64 MiB, got $size_mib" >&2; exit 1; fi
