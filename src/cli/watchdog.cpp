// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/command.h"
#include "cli/failure.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "dist/launch_board.h"

namespace roentgen::cli {

Watchdog::Watchdog(std::chrono::milliseconds limit, std::function<void()> end)
    : thread_([this, limit, end = std::move(end)] { wait(limit, end); }) {}

Watchdog::Watchdog(std::chrono::milliseconds limit, std::string text)
    : Watchdog(limit, [text = std::move(text)] {
        terminal::print_error(text);
        // Ends at once: MPI_Finalize would wait for the other ranks.
        ::_exit(kFailure);
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::wait(std::chrono::milliseconds limit, const std::function<void()>& end) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, limit, [this] { return is_over_; })) end();
}

std::shared_ptr<Watchdog> end_after(std::exception_ptr failure, std::chrono::milliseconds grace) {
  return std::make_shared<Watchdog>(grace, [failure = std::move(failure), grace] {
    const Failure told = failure_of(failure);
    terminal::print_error(told.text);
    log::error(fmt::format("a device hangs {} ms after this failure; the process ends", grace.count()));
    static_cast<void>(dist::tell_failed(told.exit_code));
    std::fflush(nullptr);
    ::_exit(told.exit_code);
  });
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
