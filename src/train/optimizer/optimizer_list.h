// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of optimizers: X(name) declares make_<name>(options, elements), which optimizer/<name>.cpp defines.
#pragma once

#include "train/optimizer/optimizer.h"

#define RG_OPTIMIZER_LIST(X) \
  X(sgd)                     \
  X(adam)                    \
  X(adamw)                   \
  X(lars)

namespace roentgen::train {

#define RG_OPTIMIZER_FACTORY(name) \
  std::unique_ptr<Optimizer> make_##name(const OptimizerOptions& options, std::int64_t elements);
RG_OPTIMIZER_LIST(RG_OPTIMIZER_FACTORY)
#undef RG_OPTIMIZER_FACTORY

}  // namespace roentgen::train
