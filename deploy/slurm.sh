#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under Slurm on one or two whole nodes of the same type:
#   sbatch deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
#   sbatch --gpus-per-node=4 deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
# The job starts, on each node,
# - one rank (process) per GPU of the job with --device cuda, which the script adds if no device, or auto, is given
# - one process if one GPU is given (--device cuda:1), or several (--devices cuda:0,1, which needs sbatch --nodes=1)
# - one rank per socket if the job has no GPUs, or with --device cpu.
# A device can also be given by --set train.device=..., or by a line `device = "..."` in the file after --recipe.
# Five minutes before the time limit, the run saves its state (SIGUSR1, exit code 3), and the job is queued again. If a
# rank is killed, the job starts the ranks again from the last checkpoint, at most RESTARTS times (default 2).
#SBATCH --job-name=roentgen
#SBATCH --nodes=1-2
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail

: "${ROENTGEN:=roentgen}"
: "${SLURM_MPI:=pmix}"
: "${RESTARTS:=2}"
# Number of GPUs of this job on a node. If Slurm does not give it, counts the GPUs in Slurm's list.
gpus=${SLURM_GPUS_ON_NODE:-}
if [[ -z $gpus && -n ${SLURM_JOB_GPUS:-} ]]; then
  gpus=$(tr ',' '\n' <<<"$SLURM_JOB_GPUS" | wc -l)
fi
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
device=$(value_of --device "$@")
: "${device:=$(value_of train.device "${@#--set=}")}"
recipe=$(value_of --recipe "$@")
if [[ -z $device && -f $recipe ]]; then
  device=$(sed -En "s/^\s*(train\.)?device\s*=\s*[\"']([^\"']*).*/\2/p" "$recipe" | head -n 1)
fi
device=${device#auto}
if [[ -n $(value_of --devices "$@") || $device == cuda:* ]]; then
  ranks=1
elif [[ $gpus =~ ^[1-9][0-9]*$ && ${device:-cuda} == cuda ]]; then
  # Each rank sees all GPUs of its node; the i-th rank uses the i-th GPU.
  ranks=$gpus
  if [[ -z $device ]]; then set -- "$@" --device cuda; fi
else
  ranks=sockets
fi
if [[ $ranks == sockets ]]; then
  # srun binds each rank to its socket, and the rank uses as many threads as the socket has cores.
  ranks=$(lscpu --parse=SOCKET | grep -v '^#' | sort -u | wc -l)
  binding=(--cpu-bind=sockets)
else
  # srun binds each rank to its share of the CPUs. Slurm rounds a share up to whole cores, so it is rounded down before.
  threads=$(LC_ALL=C lscpu | sed -n 's/^Thread(s) per core: *//p')
  cpus=$((SLURM_CPUS_ON_NODE / ranks / ${threads:-1} * ${threads:-1}))
  binding=(--cpus-per-task="$((cpus > 0 ? cpus : 1))" --cpu-bind=cores)
fi
exec 3>&1
for ((start = 0; ; ++start)); do
  # If a rank dies, srun ends the others. It exits with the highest code of all ranks, also of those that it ended itself,
  # and reports the code of each on stderr. Keeps the codes 2 and 3 while tee passes stderr on.
  told=$(srun --ntasks=$((SLURM_JOB_NUM_NODES * ranks)) --ntasks-per-node="$ranks" --mpi="$SLURM_MPI" "${binding[@]}" \
    --kill-on-bad-exit=1 "$ROENTGEN" train --resume "$@" 2>&1 >&3 |
    tee >(sed -n 's/^srun: error: .*: Exited with exit code \([23]\)$/\1/p') >&2; exit "${PIPESTATUS[0]}")
  status=$?
  if [[ -n $told ]]; then status=${told%%$'\n'*}; fi
  # 0: finished; 2: wrong input or a full disk; 3: stopped with everything saved.
  if [[ $status == [023] || $start -ge $RESTARTS ]]; then break; fi
  echo "restart $((start + 1)) of $RESTARTS: srun ended with exit code $status"
done
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved: queueing the job again"
  scontrol requeue "$SLURM_JOB_ID" || echo "could not queue the job again: submit it again to continue" >&2
fi
exit "$status"
