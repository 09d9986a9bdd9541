// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MPI session from MPI_Init to MPI_Finalize, the counters that a rank publishes, and errors from MPI's codes. For
// dist/mpi.cpp alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "dist/communicator.h"
#include "dist/mpi_abi.h"

namespace roentgen::dist {

/// Session from MPI_Init to MPI_Finalize: once in a process. Never finalised after a failure, because that would wait
/// for the others.
template <typename Abi>
class Session {
 public:
  /// @param functions must outlive this
  explicit Session(const MpiLibrary& library, const MpiFunctions<Abi>& functions) : mpi_(functions) {
    int is_begun = 0;
    mpi_.Initialized(&is_begun);
    if (is_begun != 0) {
      throw CommError(error_text("dist.mpi", "communicator mpi", "the first one of the process", "another one",
                                 "one group for all"));
    }
    // Open MPI 4.1 chooses osc/rdma where a host has several ranks and hosts are linked by TCP, and then makes no
    // window. osc/ucx waits inside a call for a lost rank, without any timeout. Later versions have no other component
    // left.
    const bool has_messages = library.version.starts_with("Open MPI v4.");
    ::setenv("OMPI_MCA_osc", has_messages ? "^rdma,ucx" : "^rdma", 0);
    int granted = 0;  // one thread makes all calls, whatever is granted
    check(mpi_.Init_thread(nullptr, nullptr, kMpiThreadFunneled, &granted), "start-up");
    mpi_.Comm_set_errhandler(mpi_.world, mpi_.errors_return);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (!has_failed && std::uncaught_exceptions() == exceptions_) mpi_.Finalize();
  }

  /// CommError with MPI's own words unless the code is MPI_SUCCESS.
  void check(int code, std::string_view what) const {
    if (code == kMpiSuccess) return;
    std::array<char, kMpiTextBytes> text{};
    int length = 0;
    mpi_.Error_string(code, text.data(), &length);
    throw CommError(error_text("dist.mpi", what, "no error", {text.data(), static_cast<std::size_t>(length)},
                               "it again (train: --resume) once the hosts and their links are well"));
  }
  /// check() that makes the phase's text only after a failure, since texts cost memory.
  void check(int code, Phase phase) const {
    if (code != kMpiSuccess) check(code, phase.text());
  }

  bool has_failed = false;

 private:
  const MpiFunctions<Abi>& mpi_;
  const int exceptions_ = std::uncaught_exceptions();
};

/// Signs that a rank publishes of itself.
struct Signs {
  /// Collectives that it has started.
  std::int64_t begun = 0;
  /// Collectives below it are done.
  std::int64_t done = 0;
  /// Grows while it waits for others.
  std::int64_t polls = 0;
  /// Rank plus one that failed first, among those that asked this rank.
  std::int64_t first_failed = 0;
  /// Rank plus one whose message it waits for, or that has not taken one of its own; 0: none.
  std::int64_t awaited = 0;
};

/// Ranks to blame for those that have not come to a collective: the ones whose messages they wait for, else themselves.
/// @param signs of all ranks, read while the late ones still polled
/// @param own this rank, which is not to blame
[[nodiscard]] inline std::vector<int> to_blame(const std::vector<int>& late, const std::vector<Signs>& signs, int own) {
  std::vector<int> ranks;
  for (const int rank : late) {
    const auto awaited = static_cast<int>(signs[static_cast<std::size_t>(rank)].awaited) - 1;
    const bool is_other = awaited >= 0 && awaited != own && std::ranges::find(late, awaited) == late.end();
    const int blamed = is_other ? awaited : rank;
    if (std::ranges::find(ranks, blamed) == ranks.end()) ranks.push_back(blamed);
  }
  return ranks;
}

/// MPI counts with an int. CommError beyond it.
[[nodiscard]] inline int mpi_count(std::size_t count, Phase phase) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (count <= kMost) return static_cast<int>(count);
  throw CommError(error_text("dist.mpi", phase.text(), "at most " + std::to_string(kMost) + " elements",
                             std::to_string(count), "several pieces"));
}

}  // namespace roentgen::dist
