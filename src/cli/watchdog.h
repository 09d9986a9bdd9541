// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Time limits for the start and the end of a rank, because MPI_Init and MPI_Finalize have no limits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace roentgen::cli {

/// Watchdog: unless it is destroyed within `limit`, its thread ends this process with exit code 1 and one line on
/// standard error.
class Watchdog {
 public:
  /// @param text line to print when the time limit expires
  Watchdog(std::chrono::milliseconds limit, std::string text);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void wait(std::chrono::milliseconds limit, const std::string& text);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

/// Number of a rank, number of all ranks, and the time limit of its start or end.
struct RankLimit {
  int rank = 0;
  int ranks = 1;
  std::chrono::milliseconds limit{0};
};

/// Returns the line about ranks that did not start together in time.
[[nodiscard]] std::string start_limit_text(const RankLimit& limit);
/// Returns the line about ranks that did not end together in time, although the results are complete.
[[nodiscard]] std::string end_limit_text(const RankLimit& limit);

}  // namespace roentgen::cli
