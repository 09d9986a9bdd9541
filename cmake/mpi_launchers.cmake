# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Launchers for tests with several processes. RG_MPI_FAMILIES contains openmpi and mpich if they are installed (empty
# with RG_MPI=OFF). RG_MPIEXEC_<family> is the launcher of a family.

# Accepts an mpiexec unless it is a link to MPICH's (hydra).
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

# Words of a command line that precede a program, to start this number of processes of it.
function(rg_launch result family ranks)
  set(launch ${RG_MPIEXEC_${family}})
  if(family STREQUAL openmpi)
    list(APPEND launch --allow-run-as-root --oversubscribe --bind-to none)
  endif()
  set(${result} ${launch} -n ${ranks} PARENT_SCOPE)
endfunction()

# Name and label of a test with the launcher of a family. With the first family they are `name` and `label`, so that
# `make test` runs each test once. If both families are installed, tests with MPICH are called NAME_mpich and have the
# label mpich (ctest -L mpich).
function(rg_mpi_test_name name_result label_result family name label)
  list(GET RG_MPI_FAMILIES 0 first)
  if(NOT family STREQUAL first)
    string(APPEND name _${family})
    set(label ${family})
  endif()
  set(${name_result} ${name} PARENT_SCOPE)
  set(${label_result} ${label} PARENT_SCOPE)
endfunction()
