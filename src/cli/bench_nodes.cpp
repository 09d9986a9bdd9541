// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/bench_nodes.h"

#include "core/error.h"
#include "core/log.h"
#include "dist/comm_thread.h"
#include "dist/launched.h"
#include "runtime/cores.h"

namespace roentgen::cli {

Value run_nodes_case(RankOptions ranked, bench::NodesOptions options) {
  if (!dist::launched_rank()) {
    if (ranked.ranks > 1) return run_for_json(ranked, {});
    throw ConfigError(
        error_text("bench.nodes", "ranks", "at least 2", "1", "--ranks 4 --hosts a:1,b:1,c:1,d:1, or under mpirun"));
  }
  log::set_level(log::Level::Warning);
  ranked.ranks = 0;  // as started
  ranked.hosts.clear();
  const auto threads = [&] {
    return options.step.threads > 0 ? options.step.threads : runtime::default_compute_threads();
  };
  ranked.threads = threads;
  const CommandResult result = run_as_ranks(ranked, [&](dist::CommThread* group) -> CommandResult {
    if (group == nullptr) {
      throw ConfigError(error_text("bench.nodes", "ranks", "at least 2", "1", "mpirun -np 2 roentgen bench nodes"));
    }
    options.step.threads = threads();
    return {.json = bench::run_nodes(options, *group)};
  });
  return result.is_silent ? Value() : result.json;
}

bool has_failed(const Value& result) {
  const Value* odd = result.find("odd");
  return odd != nullptr && odd->as_integer() > 0 && !is_own_rank();
}

}  // namespace roentgen::cli
