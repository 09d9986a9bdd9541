// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/bench_ranks.h"

#include <utility>

#include "bench/allreduce.h"
#include "bench/links.h"
#include "bench/ranks.h"
#include "cli/bench_cases.h"

namespace roentgen::cli {

Value run_allreduce_case(const RanksBench& options) {
  const auto group = bench::join_ranks("allreduce");
  Value result = bench::run_allreduce(*group, {.most_bytes = static_cast<std::size_t>(options.most_mib) << 20U,
                                               .ways = names_in(options.ways),
                                               .wires = names_in(options.wires),
                                               .in_flight = options.in_flight,
                                               .rounds = options.rounds});
  return group->rank() == 0 ? std::move(result) : Value();
}

Value run_links_case(const RanksBench& options) {
  const auto group = bench::join_ranks("links");
  bench::LinksOptions measured{.rounds = options.rounds};
  if (options.slow_factor > 0.0) measured.slow_factor = options.slow_factor;
  Value result = bench::run_links(*group, measured);
  return group->rank() == 0 ? std::move(result) : Value();
}

}  // namespace roentgen::cli
