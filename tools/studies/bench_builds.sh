#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Measures two builds in alternating rounds and reports regressions (roentgen bench history).
#
#   tools/studies/bench_builds.sh OLD NEW RECORDS ROUNDS BENCH_WORDS...
#   tools/studies/bench_builds.sh old/roentgen build/release/roentgen records 24 step --model densenet121 --steps 20
#
# OLD and NEW are programs, RECORDS is a folder for their records. The order within a round alternates (old new, new
# old, ...), so that a steady drift of the machine favours no build. Use 24 rounds on a machine with other work, and 12
# on a quiet one; fewer than 7 show nothing. Call it again with the same folder to add rounds. Ends with the exit code
# of `bench history`: 0 without a regression, 1 with one or with too few rounds to find one.
set -euo pipefail

if [ $# -lt 5 ]; then
  sed -n '5,13s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
old=$1 new=$2 records=$3 rounds=$4
shift 4
commit() { "$1" --version | sed 's/.*(\(.*\))/\1/'; }
from=$(commit "$old") to=$(commit "$new")
if [ "$from" = "$to" ]; then
  echo "bench_builds.sh: both programs are of the commit $from, so that their records cannot be told apart" >&2
  exit 2
fi
for ((round = 1; round <= rounds; ++round)); do
  if ((round % 2)); then order=("$old" "$new"); else order=("$new" "$old"); fi
  echo "round $round of $rounds" >&2
  for program in "${order[@]}"; do
    "$program" bench "$@" --ledger "$records" > /dev/null
  done
done
exec "$new" bench history "$records" --from "$from" --to "$to"
