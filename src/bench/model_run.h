// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One arm of a comparison: a compiled network on one fixed random batch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/network.h"
#include "engine/engine.h"

namespace roentgen::bench {

/// A network compiled for training, whose step is forward, backward and SGD with momentum, or for inference, whose step
/// is a forward. One thread.
class ModelRun {
 public:
  /// Throws as compile_step() and compile_inference(). `options.threads` above 0; its profile is not used.
  ModelRun(const NetworkOptions& options, engine::Form form, engine::Engine& engine);

  [[nodiscard]] const engine::Plan& plan() const { return executable_->plan(); }
  [[nodiscard]] const engine::Executable& executable() const { return *executable_; }
  [[nodiscard]] const NetworkOptions& options() const { return options_; }

  /// Runs options.warmup steps, then options.steps; returns the seconds of each of these, which the profile of the
  /// executable is of. DataError when loss or logits are not finite.
  [[nodiscard]] std::vector<double> run();

 private:
  NetworkOptions options_;
  std::unique_ptr<engine::Executable> executable_;
  /// Optimizer steps; nullopt in inference.
  std::optional<SgdSteps> training_;
};

}  // namespace roentgen::bench
