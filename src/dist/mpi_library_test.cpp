// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/mpi_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::dist {
namespace {

using testing::HasSubstr;

// Returns the text of the error that `call` throws.
template <typename Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const CommError& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal_to_load(const std::vector<std::string>& files) {
  return refusal_of([&] { static_cast<void>(load_mpi(files)); });
}

TEST(LoadMpi, names_every_file_that_is_missing) {
  const std::string refusal = refusal_to_load({"libmpi_a.so.40", "/nowhere/libmpi.so.12"});
  EXPECT_THAT(refusal, HasSubstr("[dist.mpi] communicator mpi: expected an MPI library on this machine, got "
                                 "libmpi_a.so.40: cannot open shared object file"));
  EXPECT_THAT(refusal, HasSubstr(", /nowhere/libmpi.so.12: cannot open shared object file"));
  EXPECT_THAT(refusal, HasSubstr("try apt install openmpi-bin (or mpich), module load, ROENTGEN_MPI=FILE"));
}

TEST(LoadMpi, refuses_a_library_that_is_no_mpi) {
  EXPECT_THAT(refusal_to_load({"libm.so.6"}), HasSubstr("got libm.so.6: no MPI_Get_library_version; try "));
}

TEST(LoadMpi, refuses_a_file_that_is_no_library) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "libmpi.so.40";
  std::ofstream(file) << "text";
  EXPECT_THAT(refusal_to_load({file}), HasSubstr(file + ": file too short"));
}

TEST(MpiLibrary, names_the_symbol_that_it_lacks) {
  void* const own = ::dlopen(nullptr, RTLD_NOW);
  const MpiLibrary library{.family = "mpich", .file = "libmpi.so.12", .version = "MPI 2", .handle = own};
  EXPECT_THAT(refusal_of([&] { static_cast<void>(library.symbol("MPI_Rget")); }),
              HasSubstr("[dist.mpi] libmpi.so.12: expected an MPI 3 library with the function MPI_Rget, got a library "
                        "without this function"));
}

TEST(LoadedMpi, is_none_in_a_process_that_has_loaded_none) { EXPECT_FALSE(loaded_mpi().has_value()); }

}  // namespace
}  // namespace roentgen::dist
