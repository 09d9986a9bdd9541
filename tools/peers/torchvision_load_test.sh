#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# End to end: a checkpoint that the program has just trained loads strictly into torchvision's model and gives the same
# logits. Skipped (77), loudly, where no python3 has PyTorch and torchvision. Run by ctest:
#   tools/peers/torchvision_load_test.sh PROGRAM [MODEL]
set -euo pipefail
program=$1
model=${2:-resnet18}
here=$(dirname "$0")

python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import torch, torchvision' >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "SKIPPED: no python3 with torch and torchvision; apt-get install python3-torch python3-torchvision" >&2
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" synth "$work/data" --images 120 --size 64 --seed 5
cat >"$work/recipe.toml" <<TOML
[model]
name = "$model"
[preprocess]
size = 64
[train]
epochs = 1
batch = 16
select = "loss"
TOML
"$program" train --recipe "$work/recipe.toml" --data "$work/data" --out "$work/run"
checkpoint=$work/run/checkpoints/best.safetensors
"$program" eval --checkpoint "$checkpoint" --data "$work/data" --split test --preds "$work/preds.csv" --replicates 0
"$python" "$here/load_checkpoint_torchvision.py" --checkpoint "$checkpoint" --data "$work/data" --preds "$work/preds.csv"
