#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under Slurm, one rank per socket of two nodes of two:
#   sbatch deploy/slurm.sh --recipe recipes/default.toml --data /scratch/nih --out /scratch/run
# Five minutes before the time limit the run saves everything (SIGUSR1, exit code 3), and the job is queued again.
#SBATCH --job-name=roentgen
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --ntasks-per-socket=1
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail

: "${ROENTGEN:=roentgen}"
: "${SLURM_MPI:=pmix}"
# srun binds each rank to its socket, and the program computes with as many threads as that has cores. When
# one rank dies the others are ended.
srun --mpi="$SLURM_MPI" --cpu-bind=sockets --kill-on-bad-exit=1 "$ROENTGEN" train --resume "$@"
status=$?
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved: queued again"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
