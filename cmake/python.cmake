# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# The Python package. Builds the module roentgen._native from src/python by nanobind, for the stable ABI of Python 3.10.
# The component `python` of an installation contains this module and the program. pip can build the package
# (pyproject.toml), and tools/wheel.py packs it.

set(RG_HAS_PYTHON OFF)
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/build/python/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/build/python/bin/python)  # tools/python_env.sh
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(nanobind 3 CONFIG QUIET)
  set(RG_HAS_PYTHON ${nanobind_FOUND})
endif()
if(NOT RG_HAS_PYTHON)
  return()
endif()

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/*.cpp)
nanobind_add_module(roentgen_python NOMINSIZE BACKEND_MODULE nanobind_backend NB_SUPPRESS_WARNINGS ${python_sources})
roentgen_set_flags(roentgen_python)
set_target_properties(roentgen_python PROPERTIES OUTPUT_NAME _native)
target_link_libraries(roentgen_python PRIVATE roentgen_python_core roentgen_task)
# Hides symbols of our libraries, because the process may contain another copy.
target_link_options(roentgen_python PRIVATE -Wl,--exclude-libs,ALL)

install(TARGETS roentgen_python DESTINATION roentgen COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS roentgen DESTINATION roentgen/bin COMPONENT python EXCLUDE_FROM_ALL)
