// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One arm of a comparison: a compiled network on one fixed random batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/step.h"
#include "engine/engine.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::bench {

/// A network compiled for training, whose step is forward, backward and SGD with momentum, or for inference, whose step
/// is a forward. One thread.
class ModelRun {
 public:
  /// What compile_step() and compile_inference() throw. `options.threads` above 0; its profile is not used.
  ModelRun(const StepOptions& options, engine::Form form, engine::Engine& engine);

  [[nodiscard]] const engine::Plan& plan() const { return executable_->plan(); }
  /// To time single entries of its plan between two calls of run().
  [[nodiscard]] engine::Executable& executable() { return *executable_; }
  [[nodiscard]] const StepOptions& options() const { return options_; }

  /// Runs options.warmup steps, then options.steps; seconds of each of these. DataError when loss or logits are not
  /// finite.
  [[nodiscard]] std::vector<double> run();

 private:
  void step();
  void require_finite() const;

  StepOptions options_;
  std::unique_ptr<engine::Executable> executable_;
  /// None in inference.
  std::unique_ptr<train::Optimizer> optimizer_;
  std::vector<train::UpdateRange> ranges_;
  std::int64_t done_ = 0;
};

}  // namespace roentgen::bench
