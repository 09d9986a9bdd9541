// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/scaled_ranks.h"

#include <variant>

#include "train/optimizer/optimizer.h"
#include "train/recipe.h"

namespace roentgen::train {

int scaled_ranks(const OptimizerRecipe& optimizer, int workers, UpdateWay way) {
  const engine::UpdateRule rule = optimizer_rule(optimizer.name, optimizer.rules);
  const bool is_adaptive = std::holds_alternative<engine::Adam>(rule) || std::holds_alternative<engine::RmsProp>(rule);
  return way == UpdateWay::Async && !is_adaptive ? 1 : workers;
}

}  // namespace roentgen::train
