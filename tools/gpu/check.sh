#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Tests the CUDA engine on a GPU and compares its speed with PyTorch's. Run it from an unpacked bundle
# (tools/gpu/bundle.sh).
#
#   DIR/check.sh OUT [PART]
#     PART tests: GPU tests, compute-sanitizer memcheck                                              4 minutes
#     PART ranks: several ranks on one GPU (check_ranks.sh)                                          3 minutes
#     PART 1: our times and eager PyTorch in the main cells                                          6 minutes
#     PART 2: torch.compile with CUDA graphs, and our fastest cells again                            6 minutes
#     PART 3: tf32 and f16, recomputation, first steps without timed plans, kernels, racecheck       6 minutes
#     PART 4: the other networks, ours and eager PyTorch                                             6 minutes
#     PART all, the default: all of them, in this order
#
# Writes OUT/rows.jsonl, OUT/*.log and OUT/table.md. Every job has its own time limit. The limits of a part add up to
# its time, so a job that hangs takes no time from others. The script prints jobs that failed, reached their limit or did
# not start, for example because a program is missing, and then exits with 1. A test that finds no GPU counts as failed.
# The script prints the table even if SIGTERM or SIGINT ends it early. A lock lets one process at a time use the card
# while others compile.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${2:-all}
case $#:$part in
  [12]:[1234] | [12]:tests | [12]:ranks | [12]:all) ;;
  *) set -- ;;
esac
if [ $# -eq 0 ] || [ ! -f "$here/env.sh" ]; then
  echo "usage: DIR/check.sh OUT [tests|ranks|1|2|3|4|all], DIR an unpacked bundle" >&2
  exit 2
fi
. "$here/env.sh"
. "$here/jobs.sh"
mkdir -p "$1"
out=$(cd "$1" && pwd)
export ROENTGEN_SOURCE_DIR=$here/source
lock=$out/lock
rm -f "$out/failed_jobs"
: > "$out/rows.jsonl"

finish() {  # prints the table and the failures; at every end of the script
  local status=$? running
  trap - EXIT TERM INT
  running=$(jobs -p)
  # shellcheck disable=SC2086  # process ids
  if [ -n "$running" ]; then kill $running 2> /dev/null; fi
  if [ -s "$out/failed_jobs" ]; then mapfile -t -O "${#failed[@]}" failed < "$out/failed_jobs"; fi
  python3 "$here/check_table.py" "$out" | tee "$out/table.md"
  [ "${PIPESTATUS[0]}" -eq 0 ] || failed+=(table)
  if [ -s "$out/ranks.md" ]; then cat "$out/ranks.md"; fi
  if [ ${#failed[@]} -gt 0 ]; then
    echo "FAILED: ${failed[*]}"
    if [ "$status" -eq 0 ]; then status=1; fi
  fi
  exit "$status"
}

is_part() { [ "$part" = "$1" ] || [ "$part" = all ]; }
alone() { local limit=$1 name=$2; shift 2; job "$limit" "$name" flock "$lock" "$@"; }

ours() {  # SECONDS MODEL BATCH DTYPE [OPTION...]: a training cell; an earlier result is kept as OUT/first_*.json
  local limit=$1 side=224 name
  shift
  case $1 in inception*) side=299 ;; esac
  name=step_$(IFS=_; tr -d - <<< "$*")
  if [ -f "$out/$name.json" ]; then mv "$out/$name.json" "$out/first_$name.json"; fi
  alone "$limit" "$name" roentgen bench step --device cuda --model "$1" --batch "$2" --dtype "$3" --image $side --channels 3 \
    --warmup 6 --steps $((2000 / (8 + $2 / 8) + 10)) --json "$out/$name.json" "${@:4}" && return
  # The table shows the earlier result if this run failed.
  if [ ! -f "$out/$name.json" ] && [ -f "$out/first_$name.json" ]; then mv "$out/first_$name.json" "$out/$name.json"; fi
}
ours_infer() {  # MODEL BATCH DTYPE
  alone 20 "infer_$1_$2_$3" roentgen bench infer --device cuda --model "$1" --batch "$2" --dtype "$3" --channels 3 \
    --warmup 10 --steps 100 --rounds 3 --json "$out/infer_$1_$2_$3.json"
}
torch() {  # SECONDS NAME train|infer CELL...
  local limit=$1 name=$2
  shift 2
  job "$limit" "$name" python3 "$here/source/tools/peers/gpu_torch.py" --lock "$lock" "$@"
  if [ -f "$out/$name.log" ]; then grep '^{' "$out/$name.log" >> "$out/rows.jsonl"; fi
}

# Tests of engine_cuda_gpu_test, the longest ones. Four processes share the cases of each. All run in parallel, each with
# its own time limit.
engine_cases() {  # SECONDS TEST...
  local limit=$1 one shard
  shift
  for one in "$@"; do
    for shard in 0 1 2 3; do
      in_parallel gpu_test "$limit" "test_${one}_$shard" env ROENTGEN_TEST_SHARD=$shard/4 "$here/bin/engine_cuda_gpu_test" \
        --gtest_filter="CudaEngine.$one"
    done
  done
}
sanitize() {  # SECONDS TOOL NAME COMMAND...: under a tool of compute-sanitizer
  local limit=$1 tool=$2 name=$2_$3
  shift 3
  if [ -z "$sanitizer" ]; then not_run "$name" "no compute-sanitizer here"; return; fi
  job "$limit" "$name" "$sanitizer" --tool "$tool" --error-exitcode 9 "$@"
}
sanitizer=$(command -v compute-sanitizer || true)
kernel_cases='NormaliseGpu.*:KernelsGpu.*'
small_step=(roentgen bench step --device cuda --model resnet18 --batch 2 --image 32 --channels 3 --dtype bf16
  --algorithms heuristic --warmup 1 --steps 3)

trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | tee "$out/card.txt"
roentgen doctor > "$out/doctor.log" 2>&1 || true  # exit code 1 tells of findings

if is_part tests; then
  begin_part 240
  # Kernels of ours bit for bit against the emulator; meanwhile the tests of other modules.
  cases=
  for test in "$here"/bin/*_gpu_test; do
    name=${test##*/}
    if [ "$name" = engine_cuda_gpu_test ]; then
      in_parallel gpu_test 80 "test_$name" "$test" --gtest_filter='-CudaEngine.*'
      cases=$("$test" --gtest_list_tests --gtest_filter='CudaEngine.*' | awk '/^ / {print $1}')
    else
      in_parallel gpu_test 60 "test_$name" "$test"
    fi
  done
  wait_for_all
  # shellcheck disable=SC2086  # the cases are words
  if [ -n "$cases" ]; then engine_cases 90 $cases; else not_run test_CudaEngine "$here/bin lists no such tests"; fi
  wait_for_all
  in_parallel sanitize 70 memcheck kernels "$here/bin/engine_cuda_gpu_test" --gtest_filter="$kernel_cases"
  in_parallel sanitize 70 memcheck runtime "$here/bin/runtime_gpu_test"
  in_parallel sanitize 70 memcheck step "${small_step[@]}"
  wait_for_all
fi

if is_part ranks; then
  begin_part 180
  job 180 ranks "$here/check_ranks.sh" "$out" 170
fi

if is_part 1; then
  begin_part 360
  for cell in "resnet50 256" "densenet121 256" "resnet50 64" "densenet121 64"; do ours 40 $cell bf16; done
  torch 60 torch_eager train resnet50:256:bf16:eager densenet121:256:bf16:eager resnet50:64:bf16:eager \
    densenet121:64:bf16:eager
  for cell in "resnet50 1" "resnet50 256"; do ours_infer $cell bf16; done
  for cell in "resnet50 64" "densenet121 64"; do ours 30 $cell bf16; done  # again: the table compares their bits
  torch 40 torch_infer infer resnet50:1:bf16:graph resnet50:256:bf16:graph densenet121:1:bf16:graph
fi

if is_part 2; then
  begin_part 360
  for cell in resnet50:256:bf16 resnet50:256:fp16 densenet121:256:fp16 resnet50:64:bf16 densenet121:64:bf16; do
    in_parallel torch 345 "torch_compile_${cell//:/_}" train "$cell:compile"
  done
  for cell in "resnet50 256" "densenet121 256" "resnet50 64" "densenet121 64"; do ours 40 $cell bf16; done
  for cell in "resnet50 256" "densenet121 256"; do ours 40 $cell f16; done
  wait_for_all
fi

if is_part 3; then
  begin_part 360
  ours 35 resnet50 256 bf16 --recompute all
  for cell in "resnet50 256" "densenet121 256"; do ours 35 $cell tf32; done
  for cell in "resnet50 256" "densenet121 256"; do ours 35 $cell f16; done
  for cell in "resnet50 64" "densenet121 64"; do ours 15 $cell bf16 --algorithms heuristic; done
  torch 60 torch_types train resnet50:256:bf16:eager densenet121:256:bf16:eager resnet50:256:f32:eager \
    densenet121:256:f32:eager resnet50:256:fp16:eager densenet121:256:fp16:eager
  in_parallel sanitize 60 racecheck kernels "$here/bin/engine_cuda_gpu_test" --gtest_filter="$kernel_cases"
  in_parallel sanitize 60 racecheck step "${small_step[@]}"
  wait_for_all
  if [ -x "$here/bin/kernels_bench" ]; then
    alone 35 kernels "$here/bin/kernels_bench"
  else
    not_run kernels "the bundle has no kernels_bench"
  fi
fi

if is_part 4; then
  begin_part 360
  for cell in "resnet50 400" "vgg16 128" "vgg19 128" "googlenet 256" "inception_v3 128" "inception_v4 128"; do
    ours 40 $cell bf16
  done
  torch 90 torch_eager_more train vgg16:128:bf16:eager vgg19:128:bf16:eager googlenet:256:bf16:eager \
    inception_v3:128:bf16:eager inception_v4:128:bf16:eager
  ours_infer densenet121 1 bf16
fi
exit 0  # finish() exits with 1 if a job failed
