// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Commands that run as several processes: they start themselves under mpirun (--ranks), or find themselves under mpirun
// or srun.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/rank_layout.h"
#include "cli/restart.h"
#include "engine/device.h"
#include "train/recipe.h"
#include "train/servers/server_options.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::cli {

/// Options of a command that can run as several processes.
struct RankOptions {
  /// Number of processes to start; 0: none.
  std::int64_t ranks = 0;
  /// Value of --ranks, a number or kAutomaticRanks, which run_as_ranks() reads instead of `ranks`; empty: `ranks`
  /// counts.
  std::string asked_ranks{};
  std::string hosts;
  /// Source of the hosts: host_list.h; empty: `hosts`.
  std::string hosts_from{};
  /// Each line of output begins with the number of its rank, and all ranks log.
  bool is_tagged = false;
  bool may_oversubscribe = false;
  bool may_share_device = false;
  std::int64_t timeout_s = 300;
  /// Devices of one process, each driven by a thread that is a rank; empty: none.
  std::vector<engine::DeviceChoice> devices{};
  /// Ranks of a host, and cores for communication.
  LayoutArguments layout{};
  /// Number of compute threads of this rank, asked once it is bound to its cores; empty: from `recipe`, or all of its
  /// cores.
  std::function<int()> threads{};
  /// Recipe of a command that trains or evaluates. It gives the number of threads, and the cores for input. Empty: all
  /// share the rank's cores.
  std::function<train::TrainRecipe()> recipe{};
  /// Algorithm that averages gradients, and numbers between ranks: dist/reduce/reducer.h, dist/reduce/wire.h.
  std::string reduce = "auto";
  std::string wire = "f32";
  /// GPUDirect RDMA: dist/gpu_network.h.
  std::string gdr = "auto";
  /// Parameter servers among the ranks; of commands that train.
  train::ServerArguments servers{};
  /// Whether the command can be stopped: it checks is_stop_asked() (stop_signals.h), which listens from the start, and
  /// saves its state.
  bool is_stoppable = false;
  /// Work of the command after all ranks that this program has started are gone, however they ended.
  std::function<void()> after{};
  /// Restarts of a command that can go on after a failure.
  RestartOptions restart{};

  /// --ranks, --hosts, --hosts-from, --ppn, --tag-output, --oversubscribe, --allow-shared-gpu, --comm-timeout; bound to
  /// this object's members.
  [[nodiscard]] std::vector<Option> options();
  /// --reduce, --wire, --gdr, --update, --servers, --staleness, --kv-store: of commands that train.
  [[nodiscard]] std::vector<Option> gradient_options();
  /// --restart: of commands that fill in `restart`.
  /// @param doc text for the help
  [[nodiscard]] Option restart_option(std::string doc);
};

/// Whether this process is a rank that the program itself started.
[[nodiscard]] bool is_own_rank();

/// Runs this program again with its own arguments and `changed` ones, as the ranks that `options` asks for.
/// @param changed options and their new values, in turn
[[nodiscard]] Value run_for_json(const RankOptions& options, const std::vector<std::string>& changed);

/// Runs `body` as the options ask. With --ranks it starts this program again under mpirun and waits for it. It forwards
/// SIGINT, SIGTERM and SIGUSR1 once all ranks can stop. As one of several processes that a launcher started, it runs
/// with the group of all. With RankOptions::devices it runs in a thread for each, with the group of these. Otherwise it
/// runs alone, without a group.
/// Only rank 0 of several processes prints to standard output. Only the first failure is thrown; the other ranks return
/// an empty result. Throws ConfigError for more compute threads than cores, unless the options allow it.
[[nodiscard]] CommandResult run_as_ranks(const RankOptions& options,
                                         const std::function<CommandResult(dist::CommThread* group)>& body);

}  // namespace roentgen::cli
