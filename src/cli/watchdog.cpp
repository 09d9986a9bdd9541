// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/command.h"
#include "core/error.h"
#include "core/terminal.h"

namespace roentgen::cli {

Watchdog::Watchdog(std::chrono::milliseconds limit, std::string text)
    : thread_([this, limit, text = std::move(text)] { wait(limit, text); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::wait(std::chrono::milliseconds limit, const std::string& text) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, limit, [this] { return is_over_; })) return;
  terminal::print_error(text);
  // Ends at once: MPI_Finalize would wait for the other ranks.
  ::_exit(kFailure);
}

std::string start_limit_text(const RankLimit& limit) {
  return error_text("cli.launch", fmt::format("rank {}, start-up", limit.rank),
                    fmt::format("all {} ranks (processes) to start within {:.3g} s", limit.ranks,
                                std::chrono::duration<double>(limit.limit).count()),
                    "a start that has not finished", "finding the rank that is stopped, or a larger --comm-timeout");
}

std::string end_limit_text(const RankLimit& limit) {
  return error_text("cli.launch", fmt::format("rank {}, end", limit.rank),
                    fmt::format("all {} ranks (processes) to end within {:.3g} s", limit.ranks,
                                std::chrono::duration<double>(limit.limit).count()),
                    "an end that has not finished", "finding the rank that is stopped; this run is complete");
}

}  // namespace roentgen::cli
