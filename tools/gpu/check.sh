#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Tests the CUDA engine on a GPU and compares its speed with PyTorch's. Run it from an unpacked bundle
# (tools/gpu/bundle.sh).
#
#   DIR/check.sh OUT [PART]     PART open: tests that no GPU has passed yet, also first in part 1: 3 minutes
#                               PART 1: tests, our times, eager PyTorch: 7 minutes, when tests were not sharded
#                               PART 2: our fastest cells again, and torch.compile with CUDA graphs: 6 minutes
#                               PART 3: tf32 and f16, memory with recomputation, first steps without timed plans,
#                                       single kernels, compute-sanitizer racecheck: 4 minutes
#                               PART all, the default: 1, 2 and 3
#
# Writes OUT/rows.jsonl, OUT/*.log and OUT/table.md. Every job has its own time limit. The script prints jobs that
# failed or reached their limit, and then exits with 1. It prints the table even if SIGTERM or SIGINT ends it early. A
# lock lets one process at a time use the card while others compile.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] && [ -f "$here/env.sh" ] || { echo "usage: DIR/check.sh OUT [open|1|2|3|all], DIR an unpacked bundle" >&2; exit 2; }
. "$here/env.sh"
mkdir -p "$1"
out=$(cd "$1" && pwd)
part=${2:-all}
export ROENTGEN_SOURCE_DIR=$here/source
lock=$out/lock
failed=()
: > "$out/rows.jsonl"

finish() {  # prints the table and the failures; at every end of the script
  local status=$? running
  trap - EXIT TERM INT
  running=$(jobs -p)
  # shellcheck disable=SC2086  # process ids
  if [ -n "$running" ]; then kill $running 2> /dev/null; fi
  if [ -s "$out/failed_tests" ]; then mapfile -t -O "${#failed[@]}" failed < "$out/failed_tests"; fi
  python3 "$here/check_table.py" "$out" | tee "$out/table.md"
  if [ ${#failed[@]} -gt 0 ]; then
    echo "FAILED: ${failed[*]}"
    if [ "$status" -eq 0 ]; then status=1; fi
  fi
  exit "$status"
}

job() {  # SECONDS NAME COMMAND...: under a limit, its output in OUT/NAME.log
  local limit=$1 name=$2 begin=$SECONDS
  shift 2
  timeout -k 5 "$limit" "$@" > "$out/$name.log" 2>&1 &  # in the background, since bash runs traps only between commands
  if wait $!; then
    echo "$name: $((SECONDS - begin)) s"
  else
    echo "$name: FAILED with $? after $((SECONDS - begin)) s: $(tail -n 1 "$out/$name.log" | cut -c 1-200)"
    failed+=("$name")
  fi
}
alone() { local limit=$1 name=$2; shift 2; job "$limit" "$name" flock "$lock" "$@"; }

ours() {  # MODEL BATCH DTYPE [OPTION...]: a training cell; results of an earlier run are kept as OUT/first_*.json
  local side=224 name
  case $1 in inception*) side=299 ;; esac
  name=step_$(IFS=_; tr -d - <<< "$*")
  if [ -f "$out/$name.json" ]; then mv "$out/$name.json" "$out/first_$name.json"; fi
  alone 60 "$name" roentgen bench step --device cuda --model "$1" --batch "$2" --dtype "$3" --image $side --channels 3 \
    --warmup 6 --steps $((2000 / (8 + $2 / 8) + 10)) --json "$out/$name.json" "${@:4}"
}
ours_infer() {  # MODEL BATCH DTYPE
  alone 60 "infer_$1_$2_$3" roentgen bench infer --device cuda --model "$1" --batch "$2" --dtype "$3" --channels 3 \
    --warmup 10 --steps 100 --rounds 3 --json "$out/infer_$1_$2_$3.json"
}
torch() {  # SECONDS NAME train|infer CELL...
  local limit=$1 name=$2
  shift 2
  job "$limit" "$name" python3 "$here/source/tools/peers/gpu_torch.py" --lock "$lock" "$@"
  grep '^{' "$out/$name.log" >> "$out/rows.jsonl"
}

# Tests of engine_cuda_gpu_test, the longest ones. Four processes share the cases of each. All run in parallel, each with
# its own time limit.
engine_cases() {  # SECONDS TEST...
  local limit=$1 pids=() one shard
  shift
  for one in "$@"; do
    for shard in 0 1 2 3; do
      (failed=()
        job "$limit" "test_${one}_$shard" env ROENTGEN_TEST_SHARD=$shard/4 "$here/bin/engine_cuda_gpu_test" \
          --gtest_filter="CudaEngine.$one"
        if [ ${#failed[@]} -gt 0 ]; then echo "test_${one}_$shard" >> "$out/failed_tests"; fi) &
      pids+=($!)
    done
  done
  wait "${pids[@]}"
}
sanitize() {  # SECONDS TOOL NAME COMMAND...: under a tool of compute-sanitizer
  local limit=$1 tool=$2 name=$2_$3
  shift 3
  if [ -z "$sanitizer" ]; then echo "$name: NOT RUN, no compute-sanitizer here"; return; fi
  job "$limit" "$name" "$sanitizer" --tool "$tool" --error-exitcode 9 "$@"
}
sanitizer=$(command -v compute-sanitizer || true)
kernel_cases='NormaliseGpu.*:KernelsGpu.*'
small_step=(roentgen bench step --device cuda --model resnet18 --batch 2 --image 32 --channels 3 --dtype bf16
  --algorithms heuristic --warmup 1 --steps 3)
rm -f "$out/failed_tests"
open_cases="conforms_in_training_in_bf16 conforms_in_training_in_f16 conforms_in_training_computing_values_again"

trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | tee "$out/card.txt"
roentgen doctor > "$out/doctor.log" 2>&1 || true  # exit code 1 tells of findings

if [ "$part" = open ] || [ "$part" = 1 ] || [ "$part" = all ]; then
  # shellcheck disable=SC2086  # the cases are words
  engine_cases 110 $open_cases
  for cell in "resnet50 1" "resnet50 256"; do ours_infer $cell bf16; done
  sanitize 60 memcheck kernels "$here/bin/engine_cuda_gpu_test" --gtest_filter="$kernel_cases"
  sanitize 30 memcheck runtime "$here/bin/runtime_gpu_test"
  sanitize 60 memcheck step "${small_step[@]}"
fi

if [ "$part" = 1 ] || [ "$part" = all ]; then
  for cell in "resnet50 256" "resnet50 64" "densenet121 256" "densenet121 64"; do ours $cell bf16; done
  for cell in "resnet50 64" "densenet121 64"; do ours $cell bf16; done  # again: the table compares their bits
  for cell in "resnet50 256" "densenet121 256"; do ours $cell f16; done
  ours_infer densenet121 1 bf16
  torch 100 torch_eager train resnet50:256:bf16:eager resnet50:64:bf16:eager densenet121:256:bf16:eager \
    densenet121:64:bf16:eager
  torch 30 torch_infer infer resnet50:1:bf16:graph resnet50:256:bf16:graph densenet121:1:bf16:graph
  for test in "$here"/bin/*_gpu_test; do
    name=${test##*/}
    if [ "$name" = engine_cuda_gpu_test ]; then
      others=$("$test" --gtest_list_tests --gtest_filter='CudaEngine.*' | awk '/^ / {print $1}' |
        grep -v -x -F "${open_cases// /$'\n'}")
      # shellcheck disable=SC2086
      engine_cases 110 $others
      job 120 "test_$name" "$test" --gtest_filter='-CudaEngine.*'
    else
      job 60 "test_$name" "$test"
    fi
  done
  for cell in "resnet50 400" "vgg16 128" "vgg19 128" "googlenet 256" "inception_v3 128" "inception_v4 128"; do
    ours $cell bf16
  done
  torch 120 torch_eager_more train vgg16:128:bf16:eager vgg19:128:bf16:eager googlenet:256:bf16:eager \
    inception_v3:128:bf16:eager inception_v4:128:bf16:eager
fi

if [ "$part" = 2 ] || [ "$part" = all ]; then
  pids=()
  for cell in resnet50:256:bf16 resnet50:256:fp16 resnet50:64:bf16 densenet121:256:fp16 densenet121:64:bf16; do
    (torch 330 "torch_compile_${cell//:/_}" train "$cell:compile") &
    pids+=($!)
  done
  for cell in "resnet50 256" "resnet50 64" "densenet121 256" "densenet121 64"; do ours $cell bf16; done
  wait "${pids[@]}"
fi

if [ "$part" = 3 ] || [ "$part" = all ]; then
  for cell in "resnet50 256" "densenet121 256"; do ours $cell tf32; done
  for cell in "resnet50 256" "densenet121 256"; do ours $cell f16; done
  ours resnet50 256 bf16 --recompute all
  for cell in "resnet50 64" "densenet121 64"; do ours $cell bf16 --algorithms heuristic; done
  torch 60 torch_types train resnet50:256:f32:eager densenet121:256:f32:eager resnet50:256:fp16:eager \
    densenet121:256:fp16:eager resnet50:256:bf16:eager densenet121:256:bf16:eager
  if [ -x "$here/bin/kernels_bench" ]; then
    alone 40 kernels "$here/bin/kernels_bench"
  else
    echo "kernels: NOT RUN, the bundle has no kernels_bench"
  fi
  sanitize 60 racecheck kernels "$here/bin/engine_cuda_gpu_test" --gtest_filter="$kernel_cases"
  sanitize 60 racecheck step "${small_step[@]}"
fi
