// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parameter servers of a training job: the division of its ranks, the greeting, and a server's whole work. Of the
// trainer, not for others.
#pragma once

#include <string>

#include "train/trainer.h"

namespace roentgen::engine {
class Executable;
}

namespace roentgen::train {

class Optimizer;
class ServerExchange;
struct RunState;

/// Divides the ranks of a job that has servers. Throws ConfigError on all ranks where the job cannot have them.
/// Reasons: too few ranks, NCCL or bf16 between ranks, or batch norm over all ranks in an asynchronous run.
/// @return whether this rank is a server
[[nodiscard]] bool divide_ranks(const TrainJob& job);

/// Greets the servers with the run's recipe, plan and position, and gives them their weights. Of the first worker.
void greet_servers(const TrainJob& job, const engine::Executable& executable, const RunState& state,
                   ServerExchange& servers, Optimizer& optimizer);

/// A server's work from the greeting to the end of the job. ConfigError where this process has another recipe, or lays
/// out weights otherwise; CommError as ParameterServer::serve().
[[nodiscard]] TrainOutcome serve(const TrainJob& job);

}  // namespace roentgen::train
