// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parts of the benchmarks over several ranks, which are one program launched several times; rank 0 prints.
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

/// Time limit of every wait in these benchmarks; then the missing rank is named.
inline constexpr std::chrono::milliseconds kRankLimit{60'000};

/// The ranks that were launched, over MPI. ConfigError that says how to launch them when there is only one; CommError
/// without MPI.
[[nodiscard]] std::unique_ptr<dist::Communicator> join_ranks(std::string_view case_name);
/// Numbers of all ranks, in rank order.
[[nodiscard]] std::vector<double> gather(dist::Communicator& group, double own);
/// Seconds by arm and round, in the order of interleave() (rounds.h). All ranks begin a run together; its time is that
/// of the slowest rank.
[[nodiscard]] std::vector<std::vector<double>> interleave_ranks(dist::Communicator& group, std::size_t arms,
                                                                std::int64_t rounds,
                                                                const std::function<double(std::size_t)>& run);
/// The first cores that this process may use, one for each of its compute threads.
[[nodiscard]] runtime::CoreList first_cores(int threads);
/// Whether this host has fewer hardware threads than `threads`; measured times then include waiting for turns.
[[nodiscard]] bool are_too_many(int threads);
/// Sets ranks, hosts [names, one a rank] and oversubscribed. A host with more ranks than hardware threads is
/// oversubscribed; `warnings` then says that ranks take turns. Every rank must call it.
void add_ranks(Value& result, dist::Communicator& group);

}  // namespace roentgen::bench
