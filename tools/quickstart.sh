#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# From nothing to an AUROC table: draws a data set, trains on it, evaluates. Called by `make quickstart` after the
# build. Starts afresh each time; the data set is kept when it was drawn with the same settings by the same program.
set -euo pipefail
cd "$(dirname "$0")/.."

program=build/release/roentgen
out=build/quickstart
recipe=recipes/quickstart.toml
# What `synth` draws is stated by the recipe, in one comment line: "# synth: --images N --size S --seed K".
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
  --json "$out/eval.json"
grep '^ceiling' "$out/synth.log" || true

say "where everything lies"
cat <<TEXT
  images and labels     $out/data
  run                   $out/run            (recipe.toml, log.jsonl, environment.json)
  weights               $out/run/checkpoints/best.safetensors
  AUROC, for machines   $out/eval.json
  next                  $program --help, recipes/, docs/architecture.md
TEXT
