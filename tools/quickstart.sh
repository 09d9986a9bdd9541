#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Draws a data set, trains on it and evaluates. `make quickstart` calls it after the build. Trains anew each time;
# reuses the data set if the same program drew it with the same settings.
set -euo pipefail
cd "$(dirname "$0")/.."

program=build/release/roentgen
out=build/quickstart
recipe=recipes/quickstart.toml
# The recipe states the options of `synth` in one comment line: "# synth: --images N --size S --seed K".
synth=$(sed -n 's/^# synth: //p' "$recipe" | head -n 1)
if [ -z "$synth" ]; then
  echo "[quickstart.recipe] $recipe: expected a line '# synth: --images N --size S --seed K', got none" >&2
  exit 1
fi

say() { printf '\n== %s\n' "$*"; }

mkdir -p "$out"
stamp="$synth $(sha256sum "$program" | cut -d' ' -f1)"
if [ -d "$out/data" ] && [ "$(cat "$out/data.stamp" 2>/dev/null || true)" = "$stamp" ]; then
  say "data: $out/data is there ($synth)"
else
  say "data: roentgen synth $out/data $synth"
  rm -rf "$out/data" "$out/data.stamp"
  # shellcheck disable=SC2086  # the settings are words
  "$program" synth "$out/data" $synth | tee "$out/synth.log"
  echo "$stamp" >"$out/data.stamp"
fi

say "train: roentgen train --recipe $recipe --data $out/data --out $out/run"
"$program" train --recipe "$recipe" --data "$out/data" --out "$out/run" --overwrite

say "eval: roentgen eval --checkpoint $out/run/checkpoints/best.safetensors --data $out/data --split test"
"$program" eval --checkpoint "$out/run/checkpoints/best.safetensors" --data "$out/data" --split test \
  --preds "$out/test_preds.csv" --json "$out/eval.json"
grep '^ceiling' "$out/synth.log" || true

say "report: roentgen report $out/run --out $out/report.html"
"$program" report "$out/run" --evaluation "$out/eval.json" --preds "$out/test_preds.csv" \
  --labels "$out/data/Data_Entry_2017_v2020.csv" --data "$out/data" --out "$out/report.html" --forest "$out/forest.svg"

# Draws the same patients once more, larger, for the test image that README shows; it is the same on every machine.
finding=Cardiomegaly
shown=00000044_000.png
say "picture: roentgen predict --heatmap $finding --boxes, on larger images of test patients"
rm -rf "$out/large" "$out/maps"
"$program" synth "$out/large" --images 200 --size 512 --seed "${synth##*--seed }" >"$out/large.log"
awk -F, -v finding="$finding" -v folder="$out/large/images/" \
  'NR == FNR { is_test[$1]; next } $2 == finding && $1 in is_test { print folder $1 }' \
  "$out/large/test_list.txt" "$out/large/BBox_List_2017.csv" |
  xargs "$program" predict --checkpoint "$out/run/checkpoints/best.safetensors" --heatmap "$finding" \
    --boxes "$out/large/BBox_List_2017.csv" --out "$out/maps" >"$out/predict.log"
overlay=$(awk -F, -v shown="$shown" '$1 == shown { print $4 }' "$out/maps/heatmaps.csv")
cp "$out/maps/$overlay" "$out/picture.png"
echo "$out/picture.png: heat-map and true box of $finding in $shown; $out/maps has more, and $out/predict.log their score"

say "where everything lies"
cat <<TEXT
  images and labels     $out/data
  run                   $out/run            (recipe.toml, log.jsonl, environment.json)
  weights               $out/run/checkpoints/best.safetensors
  AUROC, for machines   $out/eval.json
  report, one page      $out/report.html     (open it in a browser)
  heat-map, forest plot $out/picture.png, $out/forest.svg
  next                  $program --help, docs/guide/own_data.md
TEXT
