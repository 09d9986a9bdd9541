# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# RG_MPI_NAME (openmpi or mpich) and RG_MPI_VERSION, from what mpi.h defines: mpiexec says nothing to root.
find_file(RG_MPI_HEADER mpi.h PATHS ${MPI_C_INCLUDE_DIRS} NO_DEFAULT_PATH)
file(STRINGS ${RG_MPI_HEADER} lines REGEX "define (OMPI_(MAJOR|MINOR|RELEASE)_VERSION|MPICH_VERSION) ")
if(lines MATCHES "MPICH_VERSION \"([0-9.]+)")
  set(RG_MPI_NAME mpich)
  set(RG_MPI_VERSION ${CMAKE_MATCH_1})
else()
  set(RG_MPI_NAME openmpi)
  string(REGEX MATCHALL "VERSION [0-9]+" parts "${lines}")
  string(REPLACE "VERSION " "" parts "${parts}")
  list(JOIN parts "." RG_MPI_VERSION)
endif()
