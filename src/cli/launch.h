// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Commands that run as several processes: started under mpirun by themselves (--ranks), or found there (mpirun, srun).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "train/recipe.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::cli {

/// Options of a command that can run as several processes.
struct RankOptions {
  std::int64_t ranks = 0;
  std::string hosts;
  bool may_oversubscribe = false;
  bool may_share_device = false;
  std::int64_t timeout_s = 300;
  /// Compute threads of this rank, asked once it is bound to its cores; empty: as `recipe` says, or as it may use.
  std::function<int()> threads{};
  /// Of what trains or evaluates: which threads it has, and which cores for input. Empty: all share the rank's cores.
  std::function<train::TrainRecipe()> recipe{};
  /// How gradients are averaged: dist/reduce/reducer.h, dist/reduce/wire.h.
  std::string reduce = "auto";
  std::string wire = "f32";
  /// Of the command: it looks at is_stop_asked() (stop_signals.h), which listens from the start on, and saves what it
  /// has.
  bool is_stoppable = false;
  /// Of the command: what is left to do once all ranks that this program has started are gone, however they ended.
  std::function<void()> after{};

  /// --ranks, --hosts, --oversubscribe, --allow-shared-gpu, --comm-timeout; bound to this object's members.
  [[nodiscard]] std::vector<Option> options();
  /// --reduce, --wire: of commands that train.
  [[nodiscard]] std::vector<Option> gradient_options();
};

/// Did this program start itself as ranks, of which this is one?
[[nodiscard]] bool is_own_rank();

/// Runs this program, with its own arguments and `changed` ones, as the ranks that `options` asks for.
/// @param changed options and values, in turn, in place of what they were
/// @return what it wrote for --json. ToldError when it failed, once it has said why; CommError when a signal ended it
[[nodiscard]] Value run_for_json(const RankOptions& options, const std::vector<std::string>& changed);

/// Runs `body` as the options ask: with --ranks this program again under mpirun, which is waited for and told of
/// SIGINT, SIGTERM and SIGUSR1 once all can stop; as one of several processes that a launcher started, with the group
/// of them all; else alone, without a group. Of several processes rank 0 alone prints to standard output, and of
/// failures the first one alone is thrown; the others end in a result that says nothing. ConfigError for more compute
/// threads than cores, unless asked.
[[nodiscard]] CommandResult run_as_ranks(const RankOptions& options,
                                         const std::function<CommandResult(dist::CommThread* group)>& body);

}  // namespace roentgen::cli
