# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Launchers for tests of several processes: RG_MPI_FAMILIES lists those of openmpi and mpich that are installed (empty with
# RG_MPI=OFF), RG_MPIEXEC_<family> is the launcher.

# Accepts an mpiexec that is no link to MPICH's.
function(rg_is_no_hydra result file)
  file(REAL_PATH ${file} real)
  if(real MATCHES "hydra|mpich")
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

set(RG_MPI_FAMILIES "")
if(RG_MPI)
  find_program(RG_MPIEXEC_openmpi NAMES mpiexec.openmpi orterun mpiexec VALIDATOR rg_is_no_hydra)
  find_program(RG_MPIEXEC_mpich NAMES mpiexec.mpich mpiexec.hydra)
  foreach(family IN ITEMS openmpi mpich)
    if(RG_MPIEXEC_${family})
      list(APPEND RG_MPI_FAMILIES ${family})
    endif()
  endforeach()
endif()

# The command before a program that starts so many processes of it.
function(rg_launch result family ranks)
  set(launch ${RG_MPIEXEC_${family}})
  if(family STREQUAL openmpi)
    list(APPEND launch --allow-run-as-root --oversubscribe --bind-to none)
  endif()
  set(${result} ${launch} -n ${ranks} PARENT_SCOPE)
endfunction()

# Name and label of a test under a family's launcher: `name` and `label` under the first family, so that `make test` runs
# each test once; NAME_mpich with the label mpich (ctest -L mpich) under MPICH where Open MPI is installed, too.
function(rg_mpi_test_name name_result label_result family name label)
  list(GET RG_MPI_FAMILIES 0 first)
  if(NOT family STREQUAL first)
    string(APPEND name _${family})
    set(label ${family})
  endif()
  set(${name_result} ${name} PARENT_SCOPE)
  set(${label_result} ${label} PARENT_SCOPE)
endfunction()
