#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Trains a recipe with three seeds on a card, in bf16 and f16, and on the CPU, and compares the AUROCs. About 4 minutes on
# an H200 with 16 cores.
#
#   DIR/accuracy.sh OUT [DATA RECIPE SPLIT]    DIR an unpacked bundle; default: its data/kermany, kermany, val
#
# CPU=FILE takes the AUROCs of the CPU from the aurocs.csv of another OUT and trains on the card alone. DEVICES="cpu:f32"
# chooses other trainings. Writes OUT/aurocs.csv and OUT/table.md. The status is 1 if a training fails, runs into its
# limit, or differs from the CPU by more than the bound.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 1 ] || [ $# -eq 4 ] || { echo "usage: DIR/accuracy.sh OUT [DATA RECIPE SPLIT]" >&2; exit 2; }
if [ -f "$here/env.sh" ]; then . "$here/env.sh"; fi
data=${2:-$here/data/kermany}
recipe=${3:-kermany}
split=${4:-val}
[ -d "$data" ] || { echo "[accuracy] $data: expected a data folder, got none; ROENTGEN_KERMANY=DIR bundle.sh packs one" >&2
  exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
devices=${DEVICES:-cuda:bf16 cuda:f16}
if [ -z "${DEVICES:-}" ] && [ -z "${CPU:-}" ]; then devices="$devices cpu:f32"; fi
echo "device,dtype,seed,auroc" > "$out/aurocs.csv"
if [ -n "${CPU:-}" ]; then grep '^cpu,' "$CPU" >> "$out/aurocs.csv"; fi
failed=0

train_one() {  # DEVICE DTYPE SEED: its AUROC goes to aurocs.csv
  local name=$1_$2_$3 begin=$SECONDS auroc
  if ! timeout -k 5 "${LIMIT:-60}" roentgen train --recipe "$recipe" --data "$data" --out "$out/$name" --overwrite \
    --device "$1" --dtype "$2" --set "train.seed=$3" > "$out/$name.log" 2>&1 ||
    ! timeout -k 5 "${LIMIT:-60}" roentgen eval --checkpoint "$out/$name/checkpoints/best.safetensors" --data "$data" --split "$split" \
      --device "$1" --json "$out/$name.json" >> "$out/$name.log" 2>&1; then
    echo "$name: FAILED after $((SECONDS - begin)) s: $(tail -n 1 "$out/$name.log" | cut -c 1-200)"
    failed=1
    return
  fi
  auroc=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["auroc"]["mean"])' "$out/$name.json")
  echo "$1,$2,$3,$auroc" >> "$out/aurocs.csv"
  echo "$name: AUROC $auroc, $((SECONDS - begin)) s"
}

# Seed by seed, so that a run which is cut short has whole rows to compare.
for seed in 0 1 2; do
  for each in $devices; do train_one "${each%%:*}" "${each##*:}" "$seed"; done
done
python3 "$here/accuracy_table.py" "$out/aurocs.csv" | tee "$out/table.md"
[ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
exit $failed
