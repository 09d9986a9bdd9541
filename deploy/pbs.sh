#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# A training job under PBS, two ranks a node:
#   qsub -v ARGUMENTS="--recipe recipes/default.toml --data /scratch/nih --out /scratch/run" deploy/pbs.sh
# A run that was stopped with everything saved (exit code 3) is queued again.
#PBS -N roentgen
#PBS -l select=2:ncpus=32:mpiprocs=2:ompthreads=16
#PBS -l walltime=12:00:00
#PBS -r y
set -uo pipefail

cd "${PBS_O_WORKDIR:-.}"
: "${ROENTGEN:=roentgen}"
: "${ARGUMENTS:?qsub -v ARGUMENTS=\"--recipe ... --data ... --out ...\"}"
read -r -a arguments <<<"$ARGUMENTS"
# ompthreads above is also the number of cores that a rank gets.
mpirun --map-by "slot:PE=${OMP_NUM_THREADS:-1}" --bind-to core "$ROENTGEN" train --resume "${arguments[@]}"
status=$?
if [[ $status -eq 3 ]]; then
  echo "stopped with everything saved: queued again"
  qsub -v ARGUMENTS="$ARGUMENTS" "$0"
fi
exit "$status"
