# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Prints the features of the build, and the missing features with reasons, as the last lines of a configuration.

# summary_line(NAME TEXT ...): one line, "CUDA        off: RG_CUDA=OFF".
function(summary_line name)
  string(LENGTH "${name}" length)
  math(EXPR blanks "12 - ${length}")
  string(REPEAT " " ${blanks} padding)
  string(JOIN "" text ${ARGN})
  message(STATUS "  ${name}${padding}${text}")
endfunction()

# summary_switch(NAME IS_ON TEXT OPTION MISSING): prints "on" with TEXT, or "off" with the option or the missing
# library.
function(summary_switch name is_on text option missing)
  if(is_on)
    summary_line(${name} "on: ${text}")
  elseif(NOT ${option})
    summary_line(${name} "off: ${option}=OFF")
  else()
    summary_line(${name} "off: ${missing}")
  endif()
endfunction()

set(has_jpeg2000 OFF)
if(DCMTK_FOUND AND openjpeg_FOUND)
  set(has_jpeg2000 ON)
endif()
message(STATUS "Roentgen ${PROJECT_VERSION}:")
summary_line("build" "${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
if(RG_MPI_FAMILIES)
  list(JOIN RG_MPI_FAMILIES " and " mpi_tests)
else()
  set(mpi_tests "none: no mpiexec found (openmpi-bin or mpich)")
endif()
summary_switch("MPI" "${RG_MPI}" "loaded by the program, tests under ${mpi_tests}" RG_MPI "")
summary_switch("DICOM" "${DCMTK_FOUND}" "DCMTK ${DCMTK_VERSION}" RG_DICOM "no DCMTK found (libdcmtk-dev)")
summary_switch("JPEG 2000" "${has_jpeg2000}" "OpenJPEG ${openjpeg_VERSION}" RG_DICOM
  "no OpenJPEG found (libopenjp2-7-dev), or no DICOM")
summary_switch("CUDA" "${RG_HAS_CUDA}" "toolkit ${CUDAToolkit_VERSION}" RG_CUDA
  "no toolkit of version 12 with an nvcc that works here, or no headers of cuDNN 9")
summary_switch("NCCL" "${RG_HAS_NCCL}" "loaded by the program" RG_NCCL "no nccl.h found, or no CUDA")
if(NOT RG_SANITIZE)
  summary_switch("Python" "${RG_HAS_PYTHON}" "nanobind ${nanobind_VERSION}, wheels from Python 3.10" RG_PYTHON_PACKAGE
    "no Python 3.10 with nanobind 3 (tools/python_env.sh)")
endif()
summary_switch("tests" "${RG_TESTS}" "ctest --test-dir ${PROJECT_BINARY_DIR}" RG_TESTS "")
if(RG_SANITIZE)
  summary_line("sanitizers" "${RG_SANITIZE}")
endif()
