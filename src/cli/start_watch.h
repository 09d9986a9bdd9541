// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Time limit for the start of ranks under an mpirun or srun that the user called: MPI_Init itself has no limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace roentgen::cli {

/// Watchdog: unless it is destroyed within `limit`, its thread ends this process with exit code 1 and one line on
/// standard error.
class StartWatch {
 public:
  /// @param rank number of this rank
  /// @param ranks number of all ranks
  StartWatch(int rank, int ranks, std::chrono::milliseconds limit);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  void wait(int rank, int ranks, std::chrono::milliseconds limit);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace roentgen::cli
