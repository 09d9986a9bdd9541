#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under Slurm, with one rank (process) per socket, on one or two whole nodes of the same type:
#   sbatch deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
# Five minutes before the time limit, the run saves its state (SIGUSR1, exit code 3), and the job is queued again.
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
sockets=$(lscpu --parse=SOCKET | grep -v '^#' | sort -u | wc -l)
# srun binds each rank to its socket, and the rank uses as many threads as the socket has cores. If a rank dies, srun
# ends the others.
srun --ntasks=$((SLURM_JOB_NUM_NODES * sockets)) --ntasks-per-node="$sockets" --mpi="$SLURM_MPI" --cpu-bind=sockets --kill-on-bad-exit=1 "$ROENTGEN" train --resume "$@"
status=$?
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved: queueing the job again"
  scontrol requeue "$SLURM_JOB_ID" || echo "could not queue the job again: submit it again to continue" >&2
fi
exit "$status"
