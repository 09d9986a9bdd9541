// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From MPI_Init to MPI_Finalize, what a rank publishes of itself, and what is made of MPI's error codes. For
// dist/mpi.cpp alone: it includes mpi.h.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstdint>
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
                             "it again (train: --resume) once the hosts and their links are well"));
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
    // window; osc/ucx waits within a call for a rank that is gone, where nothing can limit the time. Later ones have no
    // other left.
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    const bool has_messages = std::string_view(version.data()).starts_with("Open MPI v4.");
    ::setenv("OMPI_MCA_osc", has_messages ? "^rdma,ucx" : "^rdma", 0);
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

/// What a rank publishes of itself.
struct Signs {
  /// Collectives that it has started.
  std::int64_t begun = 0;
  /// All below are done.
  std::int64_t done = 0;
  /// Grows while it waits for others.
  std::int64_t polls = 0;
  /// Of those who asked this rank: who failed first, plus one.
  std::int64_t first_failed = 0;
};

}  // namespace roentgen::dist
