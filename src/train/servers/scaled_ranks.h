// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Number of ranks whose images optimizer.lr_batch counts.
#pragma once

#include "train/servers/server_options.h"

namespace roentgen::train {

struct OptimizerRecipe;

/// Number of ranks whose images count for optimizer.lr_batch (schedule_options()). It is `workers` if an update has the
/// images of all, and 1 if updates are asynchronous. Asynchronous adam, adamw and rmsprop count all workers, too: their
/// steps do not grow with the gradient, and smaller rates cost accuracy (docs/notebook/ps.md). Throws ConfigError for
/// an unknown optimizer.
[[nodiscard]] int scaled_ranks(const OptimizerRecipe& optimizer, int workers, UpdateWay way);

}  // namespace roentgen::train
