// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parameter servers of a training job: divides the ranks, exchanges the greeting, and runs a server. Only for the
// trainer.
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

/// Divides the ranks of a job into workers and servers; does nothing for a job without servers. Throws ConfigError on
/// all ranks if the job cannot have servers: too few ranks, NCCL, bf16 messages, or asynchronous updates with
/// synchronised batch norm.
/// @return true if this rank is a server
[[nodiscard]] bool divide_ranks(const TrainJob& job);

/// Sends recipe, plan and position of the run to the servers, and their initial weights. Only the first worker calls
/// it.
void greet_servers(const TrainJob& job, const engine::Executable& executable, const RunState& state,
                   ServerExchange& servers, Optimizer& optimizer);

/// Runs a server, from the greeting to the end of the job. Throws ConfigError if this process has another recipe or
/// weight layout than the first worker, and CommError like ParameterServer::serve().
[[nodiscard]] TrainOutcome serve(const TrainJob& job);

}  // namespace roentgen::train
