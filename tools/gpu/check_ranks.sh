#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Checks training with several ranks on one GPU: NCCL's tests, the cost of NCCL for one rank in f32 and in bf16, the
# losses of one rank whose gradients are rounded to 16 bits, and the losses of two ranks on one GPU. Run it from an
# unpacked bundle (tools/gpu/bundle.sh), after `. DIR/env.sh`.
#
#   DIR/check_ranks.sh OUT [SECONDS]     ends within SECONDS; default: 170
#
# Writes OUT/ranks_*.json, OUT/ranks_*.log and OUT/ranks.md. Prints the checks that failed or did not start, and then
# exits with 1. `check.sh OUT ranks` runs this script.
#
# To try the script without a GPU, with the program that emulates it:
#   ROENTGEN_EMULATED_CARDS=1 PROGRAM=build/release/tests/roentgen_emulated \
#     STEP="--model OUT/ranks_net.txt --batch 4 --image 32 --threads 1 --steps 10" tools/gpu/check_ranks.sh OUT
set -uo pipefail

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: check_ranks.sh OUT [SECONDS]" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/jobs.sh"
begin_part "${2:-170}"
mkdir -p "$1"
out=$(cd "$1" && pwd)
program=${PROGRAM:-roentgen}
read -ra step <<< "${STEP:---model resnet50 --batch 256 --image 224 --channels 3 --dtype bf16 --warmup 10 --steps 40}"
rounds=3

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

if [ -x "$here/bin/dist_gpu_test" ]; then
  job 60 ranks_test "$here/bin/dist_gpu_test"
else
  echo "ranks_test: NOT RUN, there is no $here/bin/dist_gpu_test"
fi

rm -f "$out"/ranks_*.json
for ((round = 0; round < rounds; ++round)); do
  for way in auto nccl bf16; do
    averages=(--reduce "$way")
    [ $way = bf16 ] && averages=(--reduce nccl --wire bf16)
    job 30 "ranks_step_${way}_$round" "$program" bench scaling --device cuda --ranks 1 "${averages[@]}" "${step[@]}" \
      --repeat 1 --json "$out/ranks_step_${way}_$round.json"
  done
done

data=$out/ranks_data
rm -rf "$data" "$out"/ranks_{cpu,cuda,f32,bf16,f16}
cat > "$out/ranks_recipe.toml" <<'RECIPE'
[preprocess]
size = 32
[train]
epochs = 4
batch = 8
threads = 1
seed = 1
[optimizer]
name = "sgd"
lr = 0.02
RECIPE
job 30 ranks_synth "$program" synth "$data" --images 240 --size 32
for device in cpu cuda; do
  job 60 "ranks_train_$device" "$program" train --recipe "$out/ranks_recipe.toml" --model "$out/ranks_net.txt" --data "$data" \
    --out "$out/ranks_$device" --ranks 2 --oversubscribe --allow-shared-gpu --device $device
done
for wire in f32 bf16 f16; do
  job 30 "ranks_train_$wire" "$program" train --recipe "$out/ranks_recipe.toml" --model "$out/ranks_net.txt" --data "$data" \
    --out "$out/ranks_$wire" --ranks 1 --device cuda --reduce nccl --wire $wire
done

python3 "$here/check_ranks.py" "$out" | tee "$out/ranks.md"
[ "${PIPESTATUS[0]}" -eq 0 ] || failed+=(table)
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
