#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Checks training with several ranks on one GPU: NCCL's tests, two ranks that average by NCCL, the same two ranks when one
# is killed or stopped, two ranks against the CPU, and the cost of NCCL for one rank. Run it from an unpacked bundle
# (tools/gpu/bundle.sh), after `. DIR/env.sh`.
#
#   DIR/check_ranks.sh OUT [SECONDS]     ends within SECONDS; default: 170
#
# Deletes OUT/ranks_*, and writes OUT/ranks_*.json, OUT/ranks_*.log and OUT/ranks.md. The most important jobs come first.
# check_ranks.py judges each result by itself. Prints the checks that failed or did not start, and then exits with 1.
# `check.sh OUT ranks` runs this script.
#
# To try the script without a GPU, with the program that emulates it:
#   ROENTGEN_EMULATED_CARDS=1 PROGRAM=build/release/tests/roentgen_emulated \
#     STEP="--model OUT/ranks_net.txt --batch 4 --image 32 --threads 1 --steps 10" tools/gpu/check_ranks.sh OUT
# There are no GPU tests then, and times of emulated steps vary by more than their bound, so these checks fail. LIMITS=5
# multiplies the time limits of jobs, for a machine that is slow or busy.
set -uo pipefail

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: check_ranks.sh OUT [SECONDS]" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/jobs.sh"
begin_part "${2:-170}"
mkdir -p "$1"
out=$(cd "$1" && pwd)
program=$(command -v "${PROGRAM:-roentgen}" || echo "${PROGRAM:-roentgen}")
case $program in */*) program=$(realpath "$program") ;; esac
read -ra step <<< "${STEP:---model resnet50 --batch 256 --image 224 --channels 3 --dtype bf16 --warmup 10 --steps 40}"
rm -rf "$out"/ranks_*
export NCCL_DEBUG=${NCCL_DEBUG:-WARN} OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Without batch norm, because that amplifies rounding errors: losses of two ResNet-18 would differ by 0.01 after six
# updates, even on one processor with different algorithms of convolution.
cat > "$out/ranks_net.txt" <<'NET'
graph "plain"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1)
relu1 = relu(conv1)
conv2 = conv2d(relu1, out=24, kernel=3x3, stride=2x2, pad=1x1)
relu2 = relu(conv2)
conv3 = conv2d(relu2, out=24, kernel=3x3, stride=2x2, pad=1x1)
relu3 = relu(conv3)
pool = global_avg_pool(relu3)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
NET
# Fixed plans and several buckets, so that runs which average in different ways compute the same gradients.
cat > "$out/ranks_recipe.toml" <<'RECIPE'
[preprocess]
size = 32
[train]
epochs = 4
batch = 8
threads = 1
seed = 1
algorithms = "heuristic"
bucket_mb = 0.01
[optimizer]
name = "sgd"
lr = 0.02
RECIPE
data=$out/ranks_data

training() {  # RUN ARGUMENT...: sets `command` to a training
  command=("$program" train --recipe "$out/ranks_recipe.toml" --model "$out/ranks_net.txt" --data "$data"
    --out "$out/ranks_$1" --verbose "${@:2}")
}
train() {  # SECONDS RUN ARGUMENT...: trains on the GPU
  training "${@:2}"
  job "$1" "ranks_train_$2" "${command[@]}"
}
# NCCL accepts two ranks on one GPU if they name different hosts. NCCL then sends through sockets.
pair() {  # RUN ARGUMENT...: sets `command` to a training with two ranks on one GPU
  local run=$out/ranks_$1 common=(NCCL_SOCKET_IFNAME=lo NCCL_NET=Socket NCCL_P2P_DISABLE=1 NCCL_MNNVL_ENABLE=0)
  training "$@" --device cuda --oversubscribe --allow-shared-gpu --comm-timeout "$comm_timeout"
  # Rank 0 writes its exit code to a file, and rank 1 its process id.
  # shellcheck disable=SC2016  # expanded by the inner shells
  command=(mpirun "${mpirun_options[@]}" --bind-to none --oversubscribe
    -n 1 env NCCL_HOSTID=a "${common[@]}" bash -c '"$@"; status=$?; echo $status > "$0"; exit $status' "$run.code" "${command[@]}" :
    -n 1 env NCCL_HOSTID=b "${common[@]}" bash -c 'echo $$ > "$0"; exec "$@"' "$run.pid" "${command[@]}")
}
mpirun_options=()
comm_timeout=8
train_pair() {  # SECONDS RUN ARGUMENT...
  pair "${@:2}"
  job "$1" "ranks_train_$2" "${command[@]}"
}
# Prints how rank 0 ended, and after how many seconds, for check_ranks.py.
strike() {  # SIGNAL RUN COMMAND...: sends the signal to rank 1 after five updates
  local signal=$1 child begin
  run=$2
  shift 2
  trap 'kill -KILL "$(cat "$run.pid" 2> /dev/null)" 2> /dev/null' EXIT
  trap 'exit 143' TERM
  "$@" &
  child=$!
  until [ "$(grep -cs '"kind": *"step"' "$run/log.jsonl")" -ge 5 ] 2> /dev/null; do
    kill -0 $child 2> /dev/null || { echo "strike: the training ended before the signal"; return 1; }
    sleep 0.1
  done
  kill "-$signal" "$(cat "$run.pid")" || return 1
  begin=$(date +%s)
  until [ -s "$run.code" ]; do sleep 0.1; done
  echo "strike: exit code $(cat "$run.code"), $(($(date +%s) - begin)) s after SIG$signal to rank 1"
}
export -f strike
strike_pair() {  # SECONDS SIGNAL: trains endlessly until rank 1 gets a signal
  local mpirun_options=(--enable-recovery) comm_timeout=5  # mpirun does not end rank 0 when rank 1 is killed
  pair "strike_$2" --reduce nccl --set train.epochs=100000
  # shellcheck disable=SC2016  # expanded by the inner shell
  job "$1" "ranks_strike_$2" bash -c 'strike "$@"' strike "$2" "$out/ranks_strike_$2" "${command[@]}"
}
time_steps() {  # SECONDS NAME ARGUMENT...: times steps with one rank
  job "$1" "ranks_step_$2" "$program" bench scaling --device cuda --ranks 1 "${step[@]}" "${@:3}" --repeat 1 \
    --json "$out/ranks_step_$2.json"
}

# The limits of the jobs add up to 170 s, apart from those at the end, which start only if time is left.
if [ -x "$here/bin/dist_gpu_test" ]; then
  gpu_test 17 ranks_test "$here/bin/dist_gpu_test"
else
  not_run ranks_test "there is no $here/bin/dist_gpu_test"
fi
job 3 ranks_synth "$program" synth "$data" --images 240 --size 32
is_pair_good=1
limit=18  # the first job also reads the libraries from the disk
for wire in f32 bf16 f16; do
  train_pair $limit "nccl_$wire" --reduce nccl --wire "$wire" || is_pair_good=0
  limit=12
done
for wire in f32 bf16 f16; do train_pair 7 "exchange_$wire" --reduce exchange --wire "$wire"; done
for signal in KILL STOP; do strike_pair 15 "$signal"; done
train 4 cpu --ranks 2 --oversubscribe --device cpu
time_steps 20 auto_0 --reduce auto  # times plans, which later jobs read
time_ways() {  # ROUND: with NCCL
  time_steps 11 "nccl_$1" --reduce nccl
  time_steps 11 "bf16_$1" --reduce nccl --wire bf16
  time_steps 11 "wide_$1" --reduce nccl --bucket-mb 25
}
time_ways 0

# A single rank also rounds its gradients to 16 bits. Its runs show less, but need no NCCL between two ranks.
if [ $is_pair_good -eq 0 ]; then
  for wire in f32 bf16 f16; do train 8 "one_$wire" --ranks 1 --device cuda --reduce nccl --wire "$wire"; done
fi
for round in 1 2; do
  if [ "$(seconds_left)" -lt 44 ]; then break; fi
  time_steps 11 "auto_$round" --reduce auto
  time_ways $round
done

python3 "$here/check_ranks.py" "$out" | tee "$out/ranks.md"
[ "${PIPESTATUS[0]}" -eq 0 ] || failed+=(table)
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
