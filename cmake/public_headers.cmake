# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Copies the public headers to OUTPUT/roentgen, where they include each other as "roentgen/<room>/x.h". Run by the
# installation and by the target docs_api (cmake -P). Needs SOURCE_DIR, OUTPUT and ROOMS ("core,graph").
#
# A header of these rooms (modules of src) is public if a source of another room or a public header includes it.
# Includes in benchmarks do not count. Public headers include only each other and the standard library, so that a
# program needs no other development package.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" ROOMS "${ROOMS}")

# The room of a path below src/. Subfolders of engine are separate rooms.
function(room_of result path)
  string(REGEX MATCH "^(engine/(plan|cpu|cuda)/|[^/]+)" room "${path}")
  set(${result} ${room} PARENT_SCOPE)
endfunction()

# Paths between quotes or, with `form` "<", between angle brackets in the include lines of a file below src/.
function(includes_of result path form)
  file(STRINGS ${SOURCE_DIR}/src/${path} lines REGEX "^ *# *include *${form}")
  list(TRANSFORM lines REPLACE "^[^\"<]*[\"<]([^\">]+).*" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR}/src ${SOURCE_DIR}/src/*.h ${SOURCE_DIR}/src/*.cpp ${SOURCE_DIR}/src/*.cu)
list(FILTER sources EXCLUDE REGEX "(_test\\.cpp|_testing\\.h)$|^bench/")
set(open "")
foreach(source IN LISTS sources)
  room_of(room ${source})
  includes_of(headers ${source} "\"")
  foreach(header IN LISTS headers)
    room_of(other ${header})
    if(other IN_LIST ROOMS AND NOT other STREQUAL room)
      list(APPEND open ${header})
    endif()
  endforeach()
endforeach()

set(public "")
while(open)
  list(REMOVE_DUPLICATES open)
  list(APPEND public ${open})
  set(included "")
  foreach(header IN LISTS open)
    includes_of(foreign ${header} "<")
    list(FILTER foreign INCLUDE REGEX "[/.]")
    if(foreign)
      message(FATAL_ERROR "[cmake.public_headers] ${header}: expected to include the standard library alone, "
        "got <${foreign}>; try including it in the .cpp")
    endif()
    includes_of(headers ${header} "\"")
    list(APPEND included ${headers})
  endforeach()
  list(REMOVE_ITEM included "" ${public})
  set(open ${included})
endwhile()

file(REMOVE_RECURSE ${OUTPUT}/roentgen)
foreach(header IN LISTS public)
  file(READ ${SOURCE_DIR}/src/${header} text)
  string(REGEX REPLACE "\n#include \"" "\n#include \"roentgen/" text "${text}")
  file(WRITE ${OUTPUT}/roentgen/${header} "${text}")
endforeach()
list(LENGTH public count)
message(STATUS "${count} public headers in ${OUTPUT}")
