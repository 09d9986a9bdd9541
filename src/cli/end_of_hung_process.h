// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// EndOfHungProcess: ends a process that hangs after a failure, for example in ncclCommAbort or in a wait for a GPU. No
// call can end a thread that hangs there.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "dist/comm_thread.h"

namespace roentgen::cli {

/// Time that a process has to end after a failure.
inline constexpr std::chrono::milliseconds kEndGrace{4'000};

/// Watchdog: unless it is destroyed within `grace`, prints the failure and ends the process with the exit code of the
/// failure.
class EndOfHungProcess {
 public:
  EndOfHungProcess(std::exception_ptr failure, std::chrono::milliseconds grace);
  ~EndOfHungProcess();
  EndOfHungProcess(const EndOfHungProcess&) = delete;
  EndOfHungProcess& operator=(const EndOfHungProcess&) = delete;

 private:
  void watch(const std::exception_ptr& failure, std::chrono::milliseconds grace);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

/// Returns a function that makes an EndOfHungProcess, for dist::CommThread.
[[nodiscard]] dist::CommThread::Watch end_of_hung_process(std::chrono::milliseconds grace = kEndGrace);

}  // namespace roentgen::cli
