// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// LaunchBoard: messages of the ranks to the process that started them, on the same host. They say that all handle
// signals, how the job ends, and which rank a signal ended first. They also hold the current activity of each rank,
// which a killed rank cannot report itself. The board is a file that these processes map into memory. A rank on another
// host does not find the file and shares memory only with its guard process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/communicator.h"

namespace roentgen::dist {

/// Activity of a rank in MPI_Init, which waits for all ranks.
inline constexpr Phase kStartUp{.name = "start-up"};
/// Activity of a rank in MPI_Finalize, which also waits for all ranks.
inline constexpr Phase kEnd{.name = "end"};

/// Name of this host, from the system.
[[nodiscard]] std::string own_host();

/// Rank that was killed by a signal.
struct KilledRank {
  /// Number of the rank; negative if unknown.
  int rank = -1;
  std::string host;
  int signal = 0;
};

/// State of the ranks of a host in shared memory, as seen by the process that starts them. Move-only; the destructor
/// removes the file. Not thread-safe.
class LaunchBoard {
 public:
  /// Environment variable with the path of the shared file, for the ranks.
  static constexpr const char* kVariable = "ROENTGEN_LAUNCHER";

  /// Creates the shared file for this number of ranks. Throws DataError if that fails.
  explicit LaunchBoard(std::int64_t ranks);
  LaunchBoard(const LaunchBoard&) = delete;
  LaunchBoard& operator=(const LaunchBoard&) = delete;
  ~LaunchBoard();

  [[nodiscard]] const std::string& file() const { return file_; }
  /// True if all ranks handle signals.
  [[nodiscard]] bool is_ready() const;
  /// True if a rank of this host has failed, or ends because another rank has failed.
  [[nodiscard]] bool has_failed() const;
  /// Exit code of the rank that failed first; nullopt if that rank is on another host, or none has failed.
  [[nodiscard]] std::optional<int> failure() const;
  /// Exit code of rank 0; nullopt before it ends.
  [[nodiscard]] std::optional<int> exit_code() const;
  /// First rank of this host that was killed by a signal; nullopt if none was.
  [[nodiscard]] std::optional<KilledRank> killed() const;
  /// True if a rank of this host has begun to connect to the other ranks (kStartUp).
  [[nodiscard]] bool is_connecting() const;
  /// True if a rank of this host has connected to all other ranks.
  [[nodiscard]] bool is_connected() const;
  /// Activity that a rank has reported, such as "update 12, gradient bucket 3"; empty if it has reported none.
  [[nodiscard]] std::string place_of(std::int64_t rank) const;
  /// Process id of a rank of this host; nullopt before the rank has reported it.
  [[nodiscard]] std::optional<int> process_of(std::int64_t rank) const;
  /// Process ids of the ranks of this host that have reported them.
  [[nodiscard]] std::vector<int> processes() const;

 private:
  std::string file_;
  std::span<char> memory_;
};

/// Reports that all ranks can now be stopped without losing data. Only rank 0 calls it.
/// @return true if the process that started the ranks sees the report
[[nodiscard]] bool tell_ready() noexcept;
/// Reports that rank 0 ends with this exit code, even if signals follow. Only rank 0 calls it.
void tell_end(int exit_code) noexcept;

/// Reports that this rank was the first to fail, and ends with this exit code. The process that started the ranks then
/// ends all ranks that do not end by themselves.
/// @return true if the process that started the ranks sees the report
[[nodiscard]] bool tell_failed(int exit_code) noexcept;
/// Reports that this rank ends because another rank has failed.
void tell_failed_later() noexcept;

/// True if the process that started the ranks sees the reports of this rank, because both run on the same host.
[[nodiscard]] bool is_seen_by_starter();
/// Reports the process id of this rank. It may be a child of the process that mpirun started.
void tell_process() noexcept;

/// Reports that a signal killed the rank. The rank's guard process calls it.
/// @return true if the process that started the ranks sees the report
[[nodiscard]] bool tell_killed(int signal) noexcept;
/// Activity of this process's rank, in the words of LaunchBoard::place_of(). The first call creates the memory in
/// which the rank writes it. Make this call before a fork, so that parent and child share that memory.
[[nodiscard]] std::string own_place();

/// Reports that this rank begins an activity, in update `step` (from 0), or outside of updates if negative. Takes less
/// than a microsecond and allocates nothing. Tests stop a rank here (tests/parallel/held_reach.cpp).
void reach(Phase place, std::int64_t step = -1);

}  // namespace roentgen::dist
