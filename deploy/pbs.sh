#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under PBS, with mpiprocs ranks (processes) on each node and ompthreads cores per rank. Without changes,
# it uses one rank on one socket. A file contains the arguments of `roentgen train`, one word per line, because values
# of qsub -v cannot contain commas:
#   printf '%s\n' --recipe recipes/default.toml --data /scratch/nih --out /scratch/run > run.args
#   qsub -v ARGUMENTS_FILE=run.args deploy/pbs.sh
#   qsub -l select=2:ncpus=32:mpiprocs=2:ompthreads=16 -v ARGUMENTS_FILE=run.args deploy/pbs.sh
# If `select` contains ngpus, each node gets one rank per GPU instead, and these ranks divide the cores of the node. The
# script adds --device cuda if no device, or auto, is given:
#   qsub -l select=2:ncpus=32:ngpus=4 -v ARGUMENTS_FILE=run.args deploy/pbs.sh
# If one GPU is given (--device cuda:1), each node gets one process. Several GPUs (--devices cuda:0,1) need one node. A
# device can also be given by --set train.device=..., or by a line `device = "..."` in the file after --recipe.
# Ten minutes before the walltime ends, the run saves its state (SIGUSR1, exit code 3). The job is then queued again
# with the same ROENTGEN, RUN_SECONDS, select and walltime, whether these were given by qsub -v, by qsub -l, or below.
#PBS -N roentgen
#PBS -l select=1:ncpus=16:mpiprocs=1:ompthreads=16
#PBS -l walltime=12:00:00
#PBS -r y
set -uo pipefail

cd "${PBS_O_WORKDIR:-.}" || exit 2
: "${ROENTGEN:=roentgen}"
: "${ARGUMENTS_FILE:?qsub -v ARGUMENTS_FILE=FILE, with a word of the arguments a line}"
again=ARGUMENTS_FILE=$ARGUMENTS_FILE,ROENTGEN=$ROENTGEN${RUN_SECONDS:+,RUN_SECONDS=$RUN_SECONDS}

# Value of a resource of this job; empty if the scheduler does not print it. qstat folds long lines with a tab.
resource() {
  qstat -f "${PBS_JOBID:-}" 2>/dev/null | sed -e ':join' -e 'N' -e '$!bjoin' -e 's/\n\t//g' |
    sed -n "s/^ *Resource_List\.$1 = //p"
}
walltime=$(resource walltime)
select=$(resource select)
seconds=$((12 * 3600))  # as above
if [[ $walltime =~ ^([0-9]+):([0-9]+):([0-9]+)$ ]]; then
  seconds=$((10#${BASH_REMATCH[1]} * 3600 + 10#${BASH_REMATCH[2]} * 60 + 10#${BASH_REMATCH[3]}))
fi
: "${RUN_SECONDS:=$((seconds > 1200 ? seconds - 600 : seconds / 2))}"  # minus the time to save
mapfile -t arguments <"$ARGUMENTS_FILE"
# Prints the value of an option among the arguments; nothing if they do not contain it: value_of NAME ARGUMENT...
value_of() {
  local name=$1 previous="" value="" word
  shift
  for word in "$@"; do
    if [[ $previous == "$name" ]]; then value=$word; elif [[ $word == "$name="* ]]; then value=${word#*=}; fi
    previous=$word
  done
  printf '%s' "$value"
}
# Device in the arguments, otherwise in the recipe file; empty if both leave it to the program, as `auto` does.
device=$(value_of --device "${arguments[@]}")
: "${device:=$(value_of train.device "${arguments[@]#--set=}")}"
recipe=$(value_of --recipe "${arguments[@]}")
if [[ -z $device && -f $recipe ]]; then
  device=$(sed -En "s/^\s*(train\.)?device\s*=\s*[\"']([^\"']*).*/\2/p" "$recipe" | head -n 1)
fi
device=${device#auto}
number=$(value_of --ppn "${arguments[@]}")$(value_of --ranks "${arguments[@]}")
gpus=$(grep -o 'ngpus=[0-9]*' <<<"$select" | sort -u)
devices=$(value_of --devices "${arguments[@]}")
ppn=""
if [[ -z $devices && -z $number ]]; then
  if [[ $device == cuda:* ]]; then
    ppn=1
  elif [[ $gpus =~ ^ngpus=[1-9][0-9]*$ && ${device:-cuda} == cuda ]]; then
    ppn=${gpus#ngpus=}
  fi
fi
if [[ -n $ppn ]]; then
  arguments+=(--ppn "$ppn")
  if [[ -z $device ]]; then arguments+=(--device cuda); fi
  unset OMP_NUM_THREADS  # PBS set it to the number of cores of the node or of a rank
fi
# A process with several GPUs is not started by a launcher. The program refuses --devices if the job has several nodes.
if [[ -z $devices || $(sort -u "$PBS_NODEFILE" | wc -l) -gt 1 ]]; then
  arguments=(--hosts-from pbs "${arguments[@]}")
fi
# The program starts the ranks on the hosts in PBS_NODEFILE, divides the cores among them, and passes SIGUSR1 to them.
timeout --foreground --preserve-status --signal=USR1 "$RUN_SECONDS" \
  "$ROENTGEN" train --resume "${arguments[@]}"
status=$?
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved"
  if qsub -v "$again" ${select:+-l "select=$select"} ${walltime:+-l "walltime=$walltime"} "$0"; then
    echo "queued again"
  else
    echo "could not queue the job again: submit it again to continue" >&2
  fi
fi
exit "$status"
