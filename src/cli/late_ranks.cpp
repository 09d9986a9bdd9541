// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/late_ranks.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"

namespace roentgen::cli {
namespace {

// True if a signal or a debugger has stopped the process. In /proc/PID/stat, the state 'T' or 't' follows the name,
// which ends with the last parenthesis.
bool stands_still(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = text.rfind(") ");
  return at != std::string::npos && (text[at + 2] == 'T' || text[at + 2] == 't');
}

std::string names_of(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kMost = 8;
  const std::span named = std::span(ranks).first(std::min(ranks.size(), kMost));
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(named, ", "),
                     ranks.size() > kMost ? fmt::format(" and {} more", ranks.size() - kMost) : "");
}

/// Ranks that may hold up the others.
struct LateRanks {
  /// Ranks of this host whose process is stopped.
  std::vector<std::int64_t> still{};
  /// Ranks without a process on this host.
  std::vector<std::int64_t> unseen{};
};

LateRanks late_ranks(const dist::LaunchBoard& board, std::int64_t ranks) {
  LateRanks late;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::optional<int> process = board.process_of(rank);
    if (!process) {
      late.unseen.push_back(rank);
    } else if (stands_still(*process)) {
      late.still.push_back(rank);
    }
  }
  return late;
}

std::string no_sign_text(const std::vector<std::int64_t>& unseen) {
  return fmt::format("no sign of {} on {}", unseen.size() == 1 ? "this process" : "these processes", dist::own_host());
}

}  // namespace

bool has_missing_ranks(const dist::LaunchBoard& board, std::int64_t ranks, OtherHosts others) {
  const auto [still, unseen] = late_ranks(board, ranks);
  return !still.empty() || (!unseen.empty() && others == OtherHosts::Yes);
}

std::string late_start_text(const dist::LaunchBoard& board, std::int64_t ranks, std::chrono::milliseconds limit,
                            OtherHosts others) {
  const auto [still, unseen] = late_ranks(board, ranks);
  const std::string wanted = fmt::format("all {} ranks (processes) to start within {:.3g} s", ranks,
                                         std::chrono::duration<double>(limit).count());
  if (!still.empty()) {
    return error_text("cli.launch", fmt::format("{} ({}), start-up", names_of(still), dist::own_host()), wanted,
                      "a stopped process", "continuing it with kill -CONT");
  }
  if (!unseen.empty()) {
    return error_text("cli.launch", names_of(unseen) + ", start-up", wanted, no_sign_text(unseen),
                      others == OtherHosts::Yes
                          ? "checking that ssh reaches the other hosts, or a larger --comm-timeout"
                          : "finding the process that is stopped or slow, or a larger --comm-timeout");
  }
  return error_text("cli.launch", "start-up", wanted, "ranks that are still connecting to each other",
                    "naming the network (OMPI_MCA_btl_tcp_if_include), or a larger --comm-timeout");
}

std::string late_end_text(const dist::LaunchBoard& board, std::int64_t ranks, std::chrono::milliseconds limit,
                          OtherHosts others) {
  const std::string wanted =
      fmt::format("an end within {:.3g} s after rank 0 ended", std::chrono::duration<double>(limit).count());
  const auto [still, unseen] = late_ranks(board, ranks);
  if (!still.empty()) {
    return error_text("cli.launch", fmt::format("{} ({}), end", names_of(still), dist::own_host()), wanted,
                      "a stopped process, so roentgen stopped mpirun",
                      "finding out why it was stopped; this run is complete");
  }
  if (!unseen.empty() && others == OtherHosts::Yes) {
    return error_text("cli.launch", names_of(unseen) + ", end", wanted,
                      no_sign_text(unseen) + ", so roentgen stopped mpirun",
                      "checking the network to the other hosts; this run is complete");
  }
  return error_text("cli.launch", "mpirun", wanted, "no end, so roentgen stopped mpirun",
                    "another MPI library if this happens again; this run is complete");
}

std::string no_start_text(std::chrono::milliseconds limit) {
  rlimit files{};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &files) == 0;
  return error_text("cli.launch", "mpirun",
                    fmt::format("a first process within {:.3g} s", std::chrono::duration<double>(limit).count()),
                    "no process",
                    fmt::format("a larger ulimit -n{}, another TMPDIR, or a test with mpirun -np 2 hostname",
                                is_known ? fmt::format(" ({} now)", files.rlim_cur) : ""));
}

}  // namespace roentgen::cli
