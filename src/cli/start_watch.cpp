// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/start_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "core/error.h"
#include "core/terminal.h"

namespace roentgen::cli {

StartWatch::StartWatch(int rank, int ranks, std::chrono::milliseconds limit)
    : thread_([this, rank, ranks, limit] { wait(rank, ranks, limit); }) {}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StartWatch::wait(int rank, int ranks, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, limit, [this] { return is_over_; })) return;
  const double seconds = std::chrono::duration<double>(limit).count();
  terminal::print_error(error_text("cli.launch", fmt::format("rank {}, start-up", rank),
                                   fmt::format("all {} ranks (processes) to start within {:.3g} s", ranks, seconds),
                                   "a start that has not finished",
                                   "finding the rank that is stopped, or a larger --comm-timeout"));
  // Ends at once: MPI_Finalize would wait for the other ranks.
  ::_exit(kFailure);
}

}  // namespace roentgen::cli
