// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Processes in which a benchmark case trains, started with the options about ranks that `roentgen train` has.
#pragma once

#include <functional>
#include <string>

#include "train/recipe.h"
#include "train/servers/server_options.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::bench {

/// Functions and options of a case that trains.
struct TrainRequest {
  /// Returns section [train] of the recipe, which sets the threads and cores of a rank. Throws ConfigError.
  std::function<train::TrainRecipe()> recipe{};
  /// Called after all ranks that this program started have ended, with or without success; may be empty.
  std::function<void()> after{};
};

/// Processes that train together, and the options about them.
struct TrainGroup {
  dist::CommThread* ranks = nullptr;  ///< null: this process alone
  train::ServerOptions servers{};
  bool may_share_device = false;  ///< --allow-shared-gpu
  std::string reduce = "auto";    ///< value of --reduce
  std::string wire = "f32";       ///< value of --wire
  std::string gdr = "auto";       ///< value of --gdr
};

}  // namespace roentgen::bench
