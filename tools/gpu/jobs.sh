# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Jobs with time limits, for check.sh and check_ranks.sh, which source this file. They set `out`, the folder of logs.
# `failed` collects the names of jobs that failed, reached their limit or did not start.
failed=()
part_end=

now() { date +%s; }
begin_part() { part_end=$(($(now) + $1)); }  # SECONDS: no job of this part runs longer
seconds_left() { echo $((part_end - $(now))); }

last_words() {  # FILE: its last error line, such as "[dist.nccl] ...", or else its last line that is not only dashes
  { grep -E '^\[[a-z_]+\.[a-z_.]+\] ' "$1" || grep -v '^[-[:space:]]*$' "$1"; } | tail -n 1 | cut -c 1-200
}

job() {  # SECONDS NAME COMMAND...: under a time limit, its output in OUT/NAME.log; returns the command's status
  local limit=$(($1 * ${LIMITS:-1})) name=$2 begin left status
  shift 2
  begin=$(now)
  left=$((part_end - begin))
  if [ "$left" -lt 5 ]; then
    not_run "$name" "the time of this part is over"
    return 1
  fi
  if [ "$limit" -gt "$left" ]; then limit=$left; fi
  # JOB_BEGIN is for the test of this file. In the background, since bash runs traps only between commands.
  JOB_BEGIN=$begin timeout -k 5 "$limit" "$@" > "$out/$name.log" 2>&1 &
  if wait $!; then
    echo "$name: $(($(now) - begin)) s"
    return
  else
    status=$?
  fi
  echo "$name: FAILED with $status after $(($(now) - begin)) s: $(last_words "$out/$name.log")"
  failed+=("$name")
  return "$status"
}

not_run() {  # NAME REASON: counts a job that cannot start as failed
  echo "$1: NOT RUN, $2"
  failed+=("$1")
}
gpu_test() {  # SECONDS NAME COMMAND...: job() for a GPU test, which skips its cases if it finds no GPU
  job "$@" || return
  if grep -q 'NOTHING TESTED' "$out/$2.log"; then
    echo "$2: FAILED, $(grep -m 1 -o 'NO.* NOTHING TESTED.*' "$out/$2.log" | cut -c 1-200)"
    failed+=("$2")
    return 1
  fi
}

in_parallel() {  # FUNCTION ARGUMENT...: calls FUNCTION in the background; its failures go to OUT/failed_jobs
  (
    trap 'kill $(jobs -p) 2> /dev/null; exit 143' TERM
    failed=()
    "$@"
    if [ ${#failed[@]} -gt 0 ]; then printf '%s\n' "${failed[@]}" >> "$out/failed_jobs"; fi
  ) &
  pids+=($!)
}
wait_for_all() {  # waits for all calls of in_parallel()
  wait "${pids[@]}"
  pids=()
  if [ -s "$out/failed_jobs" ]; then mapfile -t -O "${#failed[@]}" failed < "$out/failed_jobs"; fi
  rm -f "$out/failed_jobs"
}
pids=()
