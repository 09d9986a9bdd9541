// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ModelRun: a compiled network that runs on one fixed random batch, for comparing networks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/network.h"
#include "engine/engine.h"

namespace roentgen::bench {

/// A network compiled for training or inference. A training step is forward, backward and SGD with momentum; an
/// inference step is a forward pass. For use by one thread.
class ModelRun {
 public:
  /// Throws the errors of compile_step() and compile_inference(). `options.threads` must be above 0; the profile option
  /// is ignored.
  ModelRun(const NetworkOptions& options, engine::Form form, engine::Engine& engine);

  [[nodiscard]] const engine::Plan& plan() const { return executable_->plan(); }
  [[nodiscard]] const engine::Executable& executable() const { return *executable_; }
  [[nodiscard]] engine::Executable& executable() { return *executable_; }
  [[nodiscard]] const NetworkOptions& options() const { return options_; }

  /// Runs options.warmup steps, then options.steps measured steps. Returns the seconds of each measured step. The
  /// executable's profile covers only these steps. Throws DataError if a loss or logit is not finite.
  [[nodiscard]] std::vector<double> run();

 private:
  NetworkOptions options_;
  std::unique_ptr<engine::Executable> executable_;
  /// Optimizer steps; nullopt for inference.
  std::optional<SgdSteps> training_;
};

}  // namespace roentgen::bench
