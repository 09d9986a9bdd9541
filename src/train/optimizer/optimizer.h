// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Optimizer: updates flat memory. It knows arenas and ranges, not tensors: layout, padding and names are the engine's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace roentgen::train {

/// Settings of all optimizers; each reads its own.
struct OptimizerOptions {
  /// Momentum of sgd; 0 = none, and no state.
  double momentum = 0.9;
  /// Nesterov's form of it, as torch.optim.SGD has it (Sutskever et al. 2013, with lr outside the velocity).
  bool is_nesterov = false;
  /// Decay rates of adam's moments.
  double beta1 = 0.9;
  double beta2 = 0.999;  ///< decay rate of the second moment
  /// Added to adam's denominator, outside the square root.
  double epsilon = 1e-8;
  /// Trust coefficient of lars; above 0.
  double trust = 1e-3;
  /// Compute threads, the same team the engine uses; >= 1.
  int threads = 1;
};

/// Consecutive arena elements that share one weight decay.
struct UpdateRange {
  std::int64_t begin = 0;     ///< first arena element
  std::int64_t count = 0;     ///< elements
  double weight_decay = 0.0;  ///< weight decay of these elements
  /// All of one layer's weights, for optimizers that look at their norms.
  bool is_layer = false;
};

/// One update of some ranges.
struct Update {
  /// The arenas, whole.
  std::span<float> parameters;
  std::span<const float> gradients;     ///< gradient arena, whole
  std::span<const UpdateRange> ranges;  ///< parts to update
  /// Learning rate of this step.
  double lr = 0.0;
  /// 1 for the first update: adam's bias correction.
  std::int64_t step = 1;
  /// Multiplies every gradient first: 1 / accumulated batches, clipping.
  double gradient_scale = 1.0;
};

/// Name and memory of one kind of state.
struct OptimizerState {
  /// As torch names it: "momentum_buffer", "exp_avg", "exp_avg_sq".
  std::string_view name;
  /// Same length and layout as the parameter arena.
  std::span<float> arena;
};

/// Updates every element of the ranges in one pass over memory: each of parameters, gradients and state is read once
/// and written at most once. A zero gradient, weight and state stay zero, so padding does. The result depends neither
/// on thread count nor on instruction set. One thread drives it; it may use a team.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// As in optimizer_list.h.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Does it want every layer's weights as a range of their own?
  [[nodiscard]] virtual bool is_layerwise() const { return false; }
  /// Updates the ranges.
  virtual void apply(const Update& update) = 0;
  /// All state there is, zero at first; what a checkpoint saves and restores. May be empty.
  [[nodiscard]] virtual std::vector<OptimizerState> state() = 0;
};

/// Makes the optimizer of that name for an arena of `elements` floats. ConfigError naming the known ones, or the option
/// that is out of range.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const OptimizerOptions& options,
                                                        std::int64_t elements);
/// Names of optimizer_list.h, in its order.
[[nodiscard]] std::vector<std::string_view> optimizer_names();

}  // namespace roentgen::train
