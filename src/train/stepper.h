// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stepper: one update. Batches in, forward, backward, accumulation, clipping, optimizer. Knows no epochs and no files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/stage/loader.h"
#include "engine/engine.h"
#include "train/observer.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::train {

/// How updates are made.
struct StepperOptions {
  std::string optimizer = "adam";
  OptimizerOptions optimizer_options;
  double weight_decay = 0.0;
  /// Weight decay on norm scales, shifts and biases, too.
  bool decays_norm_and_bias = false;
  /// Batches to an update; the mean of their gradients counts.
  std::int64_t accumulate = 1;
  /// Largest global L2 norm of the gradient; 0 = no limit. With a limit, gradients are scaled by
  /// min(1, clip_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
  double clip_norm = 0.0;
  /// Called with the samples of each batch that was trained on; may be empty.
  std::function<void(std::span<const std::uint32_t> samples)> on_batch{};
};

/// Arena ranges with their weight decay, neighbours of equal decay joined; padding between slices belongs to none.
[[nodiscard]] std::vector<UpdateRange> update_ranges(const engine::Executable& executable,
                                                     const StepperOptions& options);

/// Makes updates on an executable of training form. One thread.
class Stepper {
 public:
  /// `executable` must outlive this.
  Stepper(engine::Executable& executable, StepperOptions options);

  /// Takes `accumulate` batches from the loader and makes one update.
  /// @param step updates made before this one: keys dropout, counts adam's time
  /// @return loss, norm, images and time; step, epoch and lr as given
  /// DataError naming the step when the loss or a gradient norm is not finite; the weights are then as before.
  [[nodiscard]] StepRecord update(data::Loader& loader, std::int64_t step, double lr);

  [[nodiscard]] Optimizer& optimizer() { return *optimizer_; }

 private:
  /// One batch: adds its loss to the record, leaves its gradients in the executable's arena.
  void run_batch(data::Loader& loader, std::int64_t batch_number, StepRecord& record);
  [[nodiscard]] double gradient_scale(std::span<const float> gradients, StepRecord& record) const;

  engine::Executable& executable_;
  StepperOptions options_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<UpdateRange> ranges_;
  /// Sum of gradients; empty without accumulation.
  std::vector<float> total_;
};

}  // namespace roentgen::train
