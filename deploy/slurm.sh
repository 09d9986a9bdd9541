#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under Slurm on one or two whole nodes of the same type, with one rank (process) per GPU of the job.
# Without GPUs, or with another --device than cuda, it starts one rank per socket:
#   sbatch deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
#   sbatch --gpus-per-node=4 deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
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
device=$(value_of --device "$@")$(value_of --devices "$@")$(value_of train.device "$@")
if [[ $gpus =~ ^[1-9][0-9]*$ && ${device:-cuda} == cuda* ]]; then
  # srun binds each rank to its share of the cores. Each rank sees all GPUs of its node; the i-th rank uses the i-th GPU.
  ranks=$gpus
  cores=$((SLURM_CPUS_ON_NODE / gpus))
  binding=(--cpus-per-task="$((cores > 0 ? cores : 1))" --cpu-bind=cores)
  if [[ -z $device ]]; then set -- "$@" --device cuda; fi
else
  # srun binds each rank to its socket, and the rank uses as many threads as the socket has cores.
  ranks=$(lscpu --parse=SOCKET | grep -v '^#' | sort -u | wc -l)
  binding=(--cpu-bind=sockets)
fi
messages=$(mktemp) || exit 1
trap 'rm -f "$messages"' EXIT
exec 3>&1
for ((start = 0; ; ++start)); do
  # If a rank dies, srun ends the others.
  srun --ntasks=$((SLURM_JOB_NUM_NODES * ranks)) --ntasks-per-node="$ranks" --mpi="$SLURM_MPI" "${binding[@]}" --kill-on-bad-exit=1 "$ROENTGEN" train --resume "$@" 2>&1 >&3 | tee "$messages" >&2
  status=${PIPESTATUS[0]}
  # 0: finished; 2: wrong input or a full disk; 3: stopped with everything saved. srun exits with the highest code of all
  # ranks, also of those that it ended itself, and reports the code of each.
  told=$(sed -n 's/^srun: error: .*: Exited with exit code \([23]\)$/\1/p' "$messages" | head -n 1)
  status=${told:-$status}
  if [[ $status == [023] || $start -ge $RESTARTS ]]; then break; fi
  echo "restart $((start + 1)) of $RESTARTS: srun ended with exit code $status"
done
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved: queueing the job again"
  scontrol requeue "$SLURM_JOB_ID" || echo "could not queue the job again: submit it again to continue" >&2
fi
exit "$status"
