// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Time limits for calls that have none and that no other thread can end. These are MPI_Init, MPI_Finalize, and waits
// for a GPU or for ncclCommAbort after a failure.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace roentgen::cli {

/// Time that a process has to end after a failure.
inline constexpr std::chrono::milliseconds kEndGrace{4'000};

/// Watchdog: unless it is destroyed within `limit`, its thread ends this process.
class Watchdog {
 public:
  /// @param end function that ends the process; it must not return
  Watchdog(std::chrono::milliseconds limit, std::function<void()> end);
  /// Ends the process with exit code 1 and `text` as a line on standard error.
  Watchdog(std::chrono::milliseconds limit, std::string text);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void wait(std::chrono::milliseconds limit, const std::function<void()>& end);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

/// Starts a watchdog after a failure: unless it is destroyed within `grace`, it prints the failure and ends the process
/// with the failure's exit code.
[[nodiscard]] std::shared_ptr<Watchdog> end_after(std::exception_ptr failure,
                                                  std::chrono::milliseconds grace = kEndGrace);

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
