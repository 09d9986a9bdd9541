// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// LaunchBoard: messages of the ranks to the process that started them, on the same host. They say that all handle
// signals, how the job ends, and which rank a signal ended first. They also hold the place of each rank, which a killed
// rank cannot report. The board is a file that all map into memory. A rank of another host does not find it, and has
// memory that it shares with its guard alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/communicator.h"

namespace roentgen::dist {

/// This host's name, as the system has it.
[[nodiscard]] std::string own_host();

/// A rank that a signal ended.
struct KilledRank {
  /// Negative: it is not known which.
  int rank = -1;
  std::string host;
  int signal = 0;
};

/// The end of the process that starts the ranks. Move-only; the file is gone with it. One thread.
class LaunchBoard {
 public:
  /// The environment variable that names the file to ranks.
  static constexpr const char* kVariable = "ROENTGEN_LAUNCHER";

  /// DataError when the file cannot be made.
  explicit LaunchBoard(std::int64_t ranks);
  LaunchBoard(const LaunchBoard&) = delete;
  LaunchBoard& operator=(const LaunchBoard&) = delete;
  ~LaunchBoard();

  [[nodiscard]] const std::string& file() const { return file_; }
  /// Whether all ranks handle signals.
  [[nodiscard]] bool is_ready() const;
  /// Exit code of the rank of this host that failed first; nullopt while none has.
  [[nodiscard]] std::optional<int> failure() const;
  /// Exit code of rank 0; nullopt before it ends.
  [[nodiscard]] std::optional<int> exit_code() const;
  /// The first rank of this host that a signal ended; nothing while none has.
  [[nodiscard]] std::optional<KilledRank> killed() const;
  /// Place of the rank, "update 12, gradient bucket 3"; empty: not reported.
  [[nodiscard]] std::string place_of(std::int64_t rank) const;
  /// Process id of a rank of this host; nullopt until it has reported.
  [[nodiscard]] std::optional<int> process_of(std::int64_t rank) const;
  /// Process ids of the ranks of this host that have reported them.
  [[nodiscard]] std::vector<int> processes() const;

 private:
  std::string file_;
  std::span<char> memory_;
};

/// Called by rank 0: all ranks can now be stopped with everything saved.
/// @return whether the process that started the ranks is notified
[[nodiscard]] bool tell_ready() noexcept;
/// Called by rank 0: it ends with this exit code, whatever signals follow.
void tell_end(int exit_code) noexcept;

/// Reports that this rank has failed and ends with this exit code. The starting process then ends the ranks that do not
/// end by themselves. The first report counts.
void tell_failed(int exit_code) noexcept;

/// This process is its rank: children of the one that mpirun knows are.
void tell_process() noexcept;

/// Called by a rank's guard: a signal ended the rank.
/// @return whether the process that started the ranks is notified
[[nodiscard]] bool tell_killed(int signal) noexcept;
/// Place of this process's rank, as LaunchBoard::place_of(). Call it before a fork, so that both processes see the
/// place.
[[nodiscard]] std::string own_place();

/// Reports that this rank reaches a place of its work, in update `step` (from 0), or in none (negative). Costs less
/// than a microsecond and allocates nothing. Tests hold a rank here (tests/parallel/held_reach.cpp).
void reach(Phase place, std::int64_t step = -1);

}  // namespace roentgen::dist
