// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options that say how a training step is computed: short forms of keys of the recipe.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace roentgen::cli {

/// --algorithms, --dtype, --recompute and --fuse.
class ComputeOptions {
 public:
  [[nodiscard]] std::vector<Option> options() {
    return {{.name = "--algorithms",
             .target = &algorithms_,
             .doc = "convolutions: auto, per layer the faster of direct and our own, or direct: train.algorithms"},
            {.name = "--dtype",
             .target = &dtype_,
             .doc = "f32, bf16, auto (bf16 where the machine multiplies it): train.dtype"},
            {.name = "--recompute", .target = &recompute_, .doc = "auto, none, all: train.recompute"},
            {.name = "--fuse",
             .target = &fuse_,
             .doc = "passes and fusions: on, off, names or on,-NAME; results move within rounding: train.fuse"}};
  }
  /// The recipe's overrides with "key=value" for those that were given behind them.
  [[nodiscard]] std::vector<std::string> added_to(std::vector<std::string> overrides) const {
    if (!algorithms_.empty()) overrides.push_back("train.algorithms=" + algorithms_);
    if (!dtype_.empty()) overrides.push_back("train.dtype=" + dtype_);
    if (!recompute_.empty()) overrides.push_back("train.recompute=" + recompute_);
    if (!fuse_.empty()) overrides.push_back("train.fuse=" + fuse_);
    return overrides;
  }

 private:
  std::string algorithms_;
  std::string dtype_;
  std::string recompute_;
  std::string fuse_;
};

}  // namespace roentgen::cli
