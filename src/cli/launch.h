// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs commands as several processes: the program starts itself under mpirun (--ranks), or the user starts it with
// mpirun or srun.
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
  /// Value of --ranks, a number or kAutomaticRanks. If it is not empty, run_as_ranks() uses it instead of `ranks`.
  std::string asked_ranks{};
  std::string hosts;
  /// Value of --hosts-from, see hosts_from() in host_list.h; empty: `hosts` lists the hosts.
  std::string hosts_from{};
  /// Each line of output begins with the number of its rank, and all ranks log.
  bool is_tagged = false;
  bool may_oversubscribe = false;
  bool may_share_device = false;
  std::int64_t timeout_s = 300;
  /// Devices of one process, each driven by a thread that is a rank; empty: none.
  std::vector<engine::DeviceChoice> devices{};
  /// Number of ranks per host, and cores for communication.
  LayoutArguments layout{};
  /// Returns the number of compute threads of this rank; called when the rank is bound to its cores. Empty: as in
  /// `recipe`, or one thread per core.
  std::function<int()> threads{};
  /// Returns the recipe, which sets the number of threads and the cores for input. Empty: input and computing share the
  /// rank's cores.
  std::function<train::TrainRecipe()> recipe{};
  /// Algorithm that averages gradients (dist/reduce/reducer.h), and below it the number format sent between ranks
  /// (dist/reduce/wire.h).
  std::string reduce = "auto";
  std::string wire = "f32";
  /// GPUDirect RDMA: dist/gpu_network.h.
  std::string gdr = "auto";
  /// Options of parameter servers, for commands that train.
  train::ServerArguments servers{};
  /// Whether the command can be stopped: it checks is_stop_asked() (stop_signals.h), which listens from the start, and
  /// saves its state.
  bool is_stoppable = false;
  /// True if rank 0 ends soon after the other ranks, so that the time limit --comm-timeout also applies to the end.
  bool ends_together = false;
  /// True if the process that starts the ranks needs the result of rank 0,
  /// because this process itself prints the result.
  /// The same command, without --resume, continues such a run.
  bool returns_result = false;
  /// Called after all ranks that this program has started have ended, with or without success.
  std::function<void()> after{};
  /// How to restart a command that can continue after a failure.
  RestartOptions restart{};

  /// Returns --ranks, --hosts, --hosts-from, --ppn, --tag-output, --oversubscribe, --allow-shared-gpu and
  /// --comm-timeout, which set the fields of this object.
  [[nodiscard]] std::vector<Option> options();
  /// Returns --reduce, --wire, --gdr, --update, --servers, --staleness and --kv-store, for commands that train.
  [[nodiscard]] std::vector<Option> gradient_options();
  /// Returns --restart, for commands that set `restart`.
  /// @param doc text for the help
  [[nodiscard]] Option restart_option(std::string doc);
};

/// True if this process is a rank that the program itself started.
[[nodiscard]] bool is_own_rank();

/// Runs this program again with several ranks, as `options` define, and returns its JSON result. The arguments are
/// those of this process and `changed`. Throws bench::StopError if a signal to this process ended the ranks. Ranks that
/// saved their state after a signal (RankOptions::is_stoppable) return a result.
/// @param changed options and their new values, in turn
[[nodiscard]] Value run_for_json(const RankOptions& options, const std::vector<std::string>& changed);

/// Runs `body` in one process or in several. With --ranks it starts this program again under mpirun and waits for it.
/// It forwards SIGINT, SIGTERM and SIGUSR1 once all ranks can stop. As one of several processes that a launcher
/// started, it runs with the group of all. With RankOptions::devices it runs in one thread per device, with the group
/// of these threads. Otherwise it runs alone, without a group. Only rank 0 of several processes prints to standard
/// output. Only the first failure is thrown; the other ranks return an empty result. Throws ConfigError for more
/// compute threads than cores, unless the options allow it. Throws ConfigError for --ranks auto, too, if a launcher
/// started one process that sees several GPUs.
[[nodiscard]] CommandResult run_as_ranks(const RankOptions& options,
                                         const std::function<CommandResult(dist::CommThread* group)>& body);

}  // namespace roentgen::cli
