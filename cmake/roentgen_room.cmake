# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# roentgen_room(NAME <room> [DIR <folder below src>] [EXCLUDE <regex>...] [DEPS <rooms>...]
#               [PUBLIC <targets>...] [PRIVATE <targets>...] [TEST <targets its tests need>...])
# Defines one CMake target `roentgen_<room>` per room (module of src). Sources are found by suffix, so a new file needs
# no CMake edit:
#   x.cpp                 compiled into the room
#   x_test.cpp            label `unit`     (one executable per room and label)
#   x_slow_test.cpp       label `slow`
#   x_real_test.cpp       label `real`
#   x_gpu_test.cpp        label `gpu`
#   x_avx2_test.cpp       label `unit`, run with DNNL_MAX_CPU_ISA=AVX2: what a machine without AVX-512 computes
#   x_parallel_test.cpp   label `parallel`: run as 1, 2, 3 and 4 processes under mpirun, with a main() of their own in
#                         one of them, so that a process has one communicator; label `mpich`: the same under MPICH where
#                         Open MPI is installed, too
# DEPS are other rooms, linked publicly. tools/check_borders.py checks which includes are allowed.

function(roentgen_set_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
    -ffp-contract=off -fno-math-errno $<$<BOOL:${RG_WERROR}>:-Werror>>)
  # Lets GCC's garbage collector run less often. GCC then needs at most 544 MiB instead of 475, and tests compile in 5
  # to 15% less time.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=100 --param=ggc-min-heapsize=400000>)
  # Sets -std directly, because CMake 3.25 does not support C++20 for nvcc and silently ignores CMAKE_CUDA_STANDARD.
  # With -fmad=false, only fmaf() fuses products and sums, so that kernels round like the emulator.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -fmad=false -Xcompiler=-Wall,-Wextra $<$<BOOL:${RG_WERROR}>:-Werror=all-warnings>>)
  if(RG_SANITIZE)
    target_compile_options(${target} PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RG_SANITIZE}
      -fno-omit-frame-pointer -fno-sanitize-recover=all>)
    # Uses -O1, because checks of every memory access make unrolled kernels large: at -O2 one source compiled in more
    # than eight minutes instead of 38 s. At -O1, GCC's warnings about members of variants are wrong.
    if(RG_SANITIZE MATCHES address)
      target_compile_options(${target} PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-O1>)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${RG_SANITIZE})
  endif()
endfunction()

# Flags of a test executable. Tests compile in half the time with -O1 and a precompiled header with the includes of
# nearly all tests. The library with their main() compiles this header (CMakeLists.txt), with OpenMP, so tests need
# OpenMP, too. GCC's warnings about standard library code that it inlines from a precompiled header are wrong.
function(roentgen_set_test_flags target)
  roentgen_set_flags(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds -Wno-maybe-uninitialized -Wno-mismatched-new-delete -Wno-restrict -Wno-stringop-overflow>)
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
  if(NOT target STREQUAL roentgen_gtest_main)
    target_precompile_headers(${target} REUSE_FROM roentgen_gtest_main)
  endif()
endfunction()

# Environment of every test, as a list for the property ENVIRONMENT; more variables may follow. It sets one thread
# unless a test requests more, and a fixed seed. Waiting threads sleep, because tests run in parallel. Caches and
# benchmark records are in the build folder, not in the user's folder.
function(roentgen_test_environment result)
  set(${result} ROENTGEN_SOURCE_DIR=${PROJECT_SOURCE_DIR} OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
    RC_PARAMS=seed=20261121 XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache
    XDG_DATA_HOME=${PROJECT_BINARY_DIR}/test-data ${ARGN} PARENT_SCOPE)
endfunction()

# Adds ctest entries for the tests of an executable that match `filter`, with one process per TEST; all instances of a
# TEST_P share a process (tools/test_entries.py). Variables in RG_TEST_ENVIRONMENT are added to
# roentgen_test_environment(). RG_TEST_PROCESSORS is the number of threads of each test if it is not 1, because teams of
# threads become much slower if parallel tests use their cores. RG_TEST_PREFIX precedes the names of the tests, if
# several executables contain the same tests.
function(roentgen_test_entries target label filter)
  set(processors 1)
  if(RG_TEST_PROCESSORS)
    set(processors ${RG_TEST_PROCESSORS})
  endif()
  roentgen_test_environment(environment ${RG_TEST_ENVIRONMENT})
  set(discovery ${CMAKE_CURRENT_BINARY_DIR}/${target}_${label}_discovery.cmake)
  set(entries ${CMAKE_CURRENT_BINARY_DIR}/${target}_${label}_entries.cmake)
  file(READ ${PROJECT_SOURCE_DIR}/cmake/test_discovery.cmake.in text)
  string(CONFIGURE "${text}" text @ONLY)
  file(GENERATE OUTPUT ${discovery} CONTENT "${text}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${discovery})
endfunction()

# Adds the test executable of one label if it has sources. RG_TEST_FILTER selects the tests that ctest runs; default:
# all.
function(roentgen_tests target label)
  if(NOT ARGN)
    return()
  endif()
  add_executable(${target} ${ARGN})
  roentgen_set_test_flags(${target})
  target_link_libraries(${target} PRIVATE ${RG_TEST_LINK} GTest::gtest GTest::gmock roentgen_gtest_main rapidcheck)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL FALSE)
  roentgen_test_entries(${target} ${label} "${RG_TEST_FILTER}")
endfunction()

# Adds tests that run as a group of processes: one ctest entry for each number of processes and each MPI library.
function(roentgen_parallel_tests target)
  if(NOT ARGN)
    return()
  endif()
  add_executable(${target} ${ARGN})
  roentgen_set_test_flags(${target})
  target_link_libraries(${target} PRIVATE ${RG_TEST_LINK} GTest::gtest GTest::gmock)
  roentgen_test_environment(environment)
  foreach(family IN LISTS RG_MPI_FAMILIES)
    foreach(ranks IN ITEMS 1 2 3 4)
      rg_launch(launch ${family} ${ranks})
      rg_mpi_test_name(name label ${family} ${target}_of_${ranks} parallel)
      add_test(NAME ${name} COMMAND ${launch} $<TARGET_FILE:${target}> --gtest_brief=1
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${environment}")
    endforeach()
  endforeach()
endfunction()

function(roentgen_room)
  cmake_parse_arguments(ARG "" "NAME;DIR" "EXCLUDE;DEPS;PUBLIC;PRIVATE;TEST" ${ARGN})
  if(NOT ARG_DIR)
    set(ARG_DIR ${ARG_NAME})
  endif()
  set(target roentgen_${ARG_NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${ARG_DIR}/*.cpp ${PROJECT_SOURCE_DIR}/src/${ARG_DIR}/*.cu)
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")

  list(TRANSFORM ARG_DEPS PREPEND roentgen_ OUTPUT_VARIABLE rooms)
  if(sources)
    add_library(${target} STATIC ${sources})
    roentgen_set_flags(${target})
    # A shared library is made of the same objects. Calls inside this library need not be replaceable from outside.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PUBLIC ${rooms} ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} INTERFACE ${rooms} ${ARG_PUBLIC})
  endif()

  if(RG_TESTS AND tests)
    set(RG_TEST_LINK ${target} ${ARG_PRIVATE} ${ARG_TEST})
    set(parallel ${tests})
    list(FILTER parallel INCLUDE REGEX "_parallel_test\\.cpp$")
    list(FILTER tests EXCLUDE REGEX "_parallel_test\\.cpp$")
    roentgen_parallel_tests(${ARG_NAME}_parallel_test ${parallel})
    foreach(label IN ITEMS slow real gpu)
      set(labelled ${tests})
      list(FILTER labelled INCLUDE REGEX "_${label}_test\\.cpp$")
      list(FILTER tests EXCLUDE REGEX "_${label}_test\\.cpp$")
      string(REPLACE "/" "_" name "${ARG_NAME}_${label}_test")
      roentgen_tests(${name} ${label} ${labelled})
    endforeach()
    set(limited ${tests})
    list(FILTER limited INCLUDE REGEX "_avx2_test\\.cpp$")
    list(FILTER tests EXCLUDE REGEX "_avx2_test\\.cpp$")
    roentgen_tests(${ARG_NAME}_test unit ${tests})
    set(RG_TEST_ENVIRONMENT DNNL_MAX_CPU_ISA=AVX2)
    roentgen_tests(${ARG_NAME}_avx2_test unit ${limited})
  endif()
endfunction()
