// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces dist/mpi.cpp and dist/mpi_library.cpp in a build with RG_MPI=OFF.
#include "core/error.h"
#include "dist/comm_list.h"
#include "dist/communicator.h"
#include "dist/mpi_library.h"

namespace roentgen::dist {
namespace {

[[noreturn]] void refuse() {
  throw CommError(error_text("dist.mpi", "communicator mpi", "a build with MPI", "a build without MPI",
                             "building without RG_MPI=OFF, or a single process"));
}

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator() { refuse(); }
MpiLibrary load_mpi() { refuse(); }
std::optional<MpiLibrary> loaded_mpi() { return std::nullopt; }

}  // namespace roentgen::dist
