# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Run by every build (cmake -P). Writes the program's entries of environment.json: version, commit, build type,
# libraries. Needs SOURCE_DIR, OUTPUT, VERSION, BUILD_TYPE and LIBRARIES ("name=version,name=version"). Writes only if
# something changed, to avoid needless rebuilds.
set(commit unknown)
find_program(GIT git)
# Checks for our own .git, because a source tarball unpacked inside another repository must not report the commit of
# that repository.
if(GIT AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT} rev-parse HEAD WORKING_DIRECTORY ${SOURCE_DIR}
    RESULT_VARIABLE failed OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit ${found})
    execute_process(COMMAND ${GIT} --no-optional-locks diff --quiet HEAD -- WORKING_DIRECTORY ${SOURCE_DIR}
      RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
    if(changed)
      string(APPEND commit "+changes")
    endif()
  endif()
endif()
set(text "// Written by cmake/build_info.cmake.\n#pragma once\n\n#include <array>\n#include <utility>\n\nnamespace roentgen::io::build_info {\n")
foreach(pair IN ITEMS "kVersion=${VERSION}" "kCommit=${commit}" "kBuildType=${BUILD_TYPE}")
  string(REGEX REPLACE "=(.*)" " = \"\\1\";\n" line "${pair}")
  string(APPEND text "inline constexpr const char* ${line}")
endforeach()
string(REPLACE "," ";" libraries "${LIBRARIES}")
list(LENGTH libraries count)
string(APPEND text "/// Name and version, as found when the program was configured.\n"
  "inline constexpr std::array<std::pair<const char*, const char*>, ${count}> kLibraries{{\n")
foreach(pair IN LISTS libraries)
  string(REGEX REPLACE "(.*)=(.*)" "    {\"\\1\", \"\\2\"},\n" line "${pair}")
  string(APPEND text "${line}")
endforeach()
string(APPEND text "}};\n}  // namespace roentgen::io::build_info\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
