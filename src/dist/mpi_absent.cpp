// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// In place of dist/mpi.cpp, which does not exist yet.
#include "core/error.h"
#include "dist/comm_list.h"
#include "dist/communicator.h"

namespace roentgen::dist {

std::unique_ptr<Communicator> make_mpi_communicator() {
  throw CommError(error_text("dist.mpi", "communicator mpi", "a program that distributes over MPI",
                             "one that does not: it is not built yet", "one process"));
}

}  // namespace roentgen::dist
