// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The cases of `bench` that are launched as several ranks: options, and who tells.
#pragma once

#include <cstdint>
#include <string>

#include "core/value.h"

namespace roentgen::cli {

/// As on the command line.
struct RanksBench {
  /// Names with commas; empty: all.
  std::string ways;
  std::string wires;
  std::int64_t most_mib = 512;
  std::int64_t in_flight = 1;
  std::int64_t rounds = 3;
  /// 0: the case's own.
  double slow_factor = 0.0;
};

/// Joins the ranks, measures, and parts from them. The result; null on ranks other than 0, which have nothing to tell.
/// As bench::join_ranks(), and bench::run_allreduce() or bench::run_links() throw.
[[nodiscard]] Value run_allreduce_case(const RanksBench& options);
[[nodiscard]] Value run_links_case(const RanksBench& options);

}  // namespace roentgen::cli
