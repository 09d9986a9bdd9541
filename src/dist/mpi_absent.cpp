// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// In place of dist/mpi.cpp where no MPI was found.
#include "core/error.h"
#include "dist/comm_list.h"
#include "dist/communicator.h"
#include "dist/launched.h"

namespace roentgen::dist {

std::unique_ptr<Communicator> make_mpi_communicator() {
  throw CommError(error_text("dist.mpi", "communicator mpi", "a program that was built with MPI", "one that was not",
                             "building it where Open MPI or MPICH is installed (tools/setup.sh), or one process"));
}

std::string_view mpi_name() { return "none"; }

}  // namespace roentgen::dist
