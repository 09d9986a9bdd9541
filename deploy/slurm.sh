#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under Slurm, one rank per socket of one or two whole nodes of one kind:
#   sbatch deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
# Five minutes before the time limit the run saves everything (SIGUSR1, exit code 3), and the job is queued again.
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
# srun binds each rank to its socket, and the program computes with as many threads as that has cores. When
# one rank dies the others are ended.
srun --ntasks=$((SLURM_JOB_NUM_NODES * sockets)) --ntasks-per-node="$sockets" --mpi="$SLURM_MPI" --cpu-bind=sockets --kill-on-bad-exit=1 "$ROENTGEN" train --resume "$@"
status=$?
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved: queued again"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
