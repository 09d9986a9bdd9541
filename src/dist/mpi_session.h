// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From MPI_Init to MPI_Finalize, and what is made of MPI's error codes. For dist/mpi.cpp alone: it includes mpi.h.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "core/error.h"
#include "dist/communicator.h"

namespace roentgen::dist {

/// CommError with MPI's own words for what is no success.
inline void check(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommError(error_text("dist.mpi", what, "no error", {text.data(), static_cast<std::size_t>(length)},
                             "--resume once the hosts and their links are well"));
}

/// The same; texts cost memory, which success must not.
inline void check(int code, Phase phase) {
  if (code != MPI_SUCCESS) check(code, phase.text());
}

/// From MPI_Init to MPI_Finalize: once in a process. Never finalised after a failure: that would wait for the others.
class Session {
 public:
  Session() {
    int is_begun = 0;
    MPI_Initialized(&is_begun);
    if (is_begun != 0) {
      throw CommError(error_text("dist.mpi", "communicator mpi", "the first one of the process", "another one",
                                 "one group for all"));
    }
    // Open MPI 4.1 takes osc/rdma where a host has several ranks and hosts are linked by TCP, and it then makes no
    // window.
    ::setenv("OMPI_MCA_osc", "^rdma", 0);
    int granted = MPI_THREAD_SINGLE;  // one thread makes all calls, whatever is granted
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted), "start-up");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (!has_failed && std::uncaught_exceptions() == exceptions_) MPI_Finalize();
  }
  bool has_failed = false;

 private:
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace roentgen::dist
