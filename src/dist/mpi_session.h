// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MPI session from MPI_Init to MPI_Finalize, and conversion of MPI's error codes. Only for dist/mpi.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

#include "core/error.h"
#include "dist/communicator.h"
#include "dist/mpi_abi.h"

namespace roentgen::dist {

/// MPI session from MPI_Init to MPI_Finalize; one per process. Does not call MPI_Finalize after a failure, because it
/// would wait for other ranks.
template <typename Abi>
class Session {
 public:
  /// @param functions must outlive this object
  explicit Session(const MpiLibrary& library, const MpiFunctions<Abi>& functions) : mpi_(functions) {
    int is_begun = 0;
    mpi_.Initialized(&is_begun);
    if (is_begun != 0) {
      throw CommError(error_text("dist.mpi", "communicator mpi", "no earlier use of MPI in this process",
                                 "an earlier use", "one MPI group per process"));
    }
    // Open MPI 4.1 chooses osc/rdma if a host has several ranks and hosts are connected by TCP, and then creates no
    // window. osc/ucx waits inside a call for a lost rank, without any timeout. Later versions have no other component
    // left.
    const bool has_messages = library.version.starts_with("Open MPI v4.");
    ::setenv("OMPI_MCA_osc", has_messages ? "^rdma,ucx" : "^rdma", 0);
    int granted = 0;  // ignored, because only one thread calls MPI
    check(mpi_.Init_thread(nullptr, nullptr, kMpiThreadFunneled, &granted), "start-up");
    mpi_.Comm_set_errhandler(mpi_.world, mpi_.errors_return);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (!has_failed && std::uncaught_exceptions() == exceptions_) mpi_.Finalize();
  }

  /// Throws CommError with MPI's error text unless the code is MPI_SUCCESS.
  void check(int code, std::string_view what) const {
    if (code == kMpiSuccess) return;
    std::array<char, kMpiTextBytes> text{};
    int length = 0;
    mpi_.Error_string(code, text.data(), &length);
    throw CommError(error_text("dist.mpi", what, "no error", {text.data(), static_cast<std::size_t>(length)},
                               "again (train: --resume) when the hosts and their network work"));
  }
  /// Like check() above, but formats the phase only after a failure, because formatting allocates memory.
  void check(int code, Phase phase) const {
    if (code != kMpiSuccess) check(code, phase.text());
  }

  bool has_failed = false;

 private:
  const MpiFunctions<Abi>& mpi_;
  const int exceptions_ = std::uncaught_exceptions();
};

/// Converts a count to the int that MPI expects. Throws CommError if it is too large.
[[nodiscard]] inline int mpi_count(std::size_t count, Phase phase) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (count <= kMost) return static_cast<int>(count);
  throw CommError(error_text("dist.mpi", phase.text(), "at most " + std::to_string(kMost) + " elements",
                             std::to_string(count), "several smaller messages"));
}

}  // namespace roentgen::dist
