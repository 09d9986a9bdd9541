// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/end_of_hung_process.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "cli/failure.h"
#include "core/log.h"
#include "core/terminal.h"
#include "dist/launch_board.h"

namespace roentgen::cli {

EndOfHungProcess::EndOfHungProcess(std::exception_ptr failure, std::chrono::milliseconds grace)
    : thread_([this, failure = std::move(failure), grace] { watch(failure, grace); }) {}

EndOfHungProcess::~EndOfHungProcess() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EndOfHungProcess::watch(const std::exception_ptr& failure, std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, grace, [this] { return is_over_; })) return;
  const Failure told = failure_of(failure);
  terminal::print_error(told.text);
  log::error(fmt::format("a device hangs {} ms after this failure; the process ends", grace.count()));
  static_cast<void>(dist::tell_failed(told.exit_code));
  std::fflush(nullptr);
  std::_Exit(told.exit_code);
}

dist::CommThread::Watch end_of_hung_process(std::chrono::milliseconds grace) {
  return [grace](const std::exception_ptr& failure) { return std::make_shared<EndOfHungProcess>(failure, grace); };
}

}  // namespace roentgen::cli
