// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Functions for benchmarks with several ranks (processes of this program). Only rank 0 prints the result.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "dist/communicator.h"
#include "runtime/core_list.h"

namespace roentgen::bench {

/// Time limit of every wait for another rank. After it, an error names the missing rank.
inline constexpr std::chrono::milliseconds kRankLimit{60'000};

/// Connects the started ranks over MPI. Throws ConfigError that explains how to start several ranks if there is only
/// one, and CommError without MPI.
[[nodiscard]] std::unique_ptr<dist::Communicator> join_ranks(std::string_view case_name);
/// Collects the number `own` of every rank, in rank order.
[[nodiscard]] std::vector<double> gather(dist::Communicator& group, double own);
/// Runs each compared variant ("arm") once per round, like interleave() (rounds.h), and returns the seconds as
/// [arm][round]. All ranks start together; the slowest rank counts.
[[nodiscard]] std::vector<std::vector<double>> interleave_ranks(dist::Communicator& group, std::size_t arms,
                                                                std::int64_t rounds,
                                                                const std::function<double(std::size_t)>& run);
/// Returns the first cores that this process may use, one for each compute thread.
[[nodiscard]] runtime::CoreList first_cores(int threads);
/// True if this host has fewer hardware threads than `threads`. Then threads share cores, which lengthens measured
/// times.
[[nodiscard]] bool are_too_many(int threads);
/// Adds ranks, hosts (the host name of each rank) and oversubscribed to a result. A host with more ranks than hardware
/// threads is oversubscribed; then a warning says that ranks share cores. Every rank must call it.
void add_ranks(Value& result, dist::Communicator& group);

}  // namespace roentgen::bench
