# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Compiles with ccache if it is installed and no other launcher is set (CMAKE_CXX_COMPILER_LAUNCHER, as a variable of
# CMake or of the environment; an empty value means no launcher). Paths below the source folder are hashed as relative
# paths, so that other clones can use the cache. ccache requires the sloppiness settings for sources with a precompiled
# header.
find_program(RG_CCACHE ccache)
if(RG_CCACHE)
  foreach(language IN ITEMS C CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_${language}_COMPILER_LAUNCHER})
      set(CMAKE_${language}_COMPILER_LAUNCHER
        env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros ${RG_CCACHE})
    endif()
  endforeach()
endif()
