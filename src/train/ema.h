// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ema: the exponential moving average of the weights over the updates, which often ranks better than the last weights
// (Polyak & Juditsky 1992). Validation and best.safetensors use it in place of the weights; training itself never sees
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/arena.h"
#include "graph/parameter.h"
#include "train/weights.h"

namespace roentgen::train {

/// Prefix of the names of averaged weights in a resume file.
inline constexpr std::string_view kEmaPrefix = "optimizer.ema.";

/// Returns the weight of the old average at update t (from 1): min(decay, (1 + t) / (10 + t)). It starts small, so that
/// the random initial weights are soon forgotten (TensorFlow's ExponentialMovingAverage with num_updates).
[[nodiscard]] double ema_decay(double decay, std::int64_t update);

/// Exponential moving average: e_0 = w_0 and e_t = e_(t-1) + (1 - d_t) (w_t - e_(t-1)) with d_t = ema_decay(decay, t).
/// It runs in float32 over every parameter and the running statistics of batch norms. Takes as much memory as the
/// weights. Not thread-safe.
class Ema {
 public:
  /// Starts the averages at the present weights of `executable`, which must outlive this object.
  /// @param decay 0 < decay < 1
  Ema(engine::Executable& executable, double decay);

  /// Must be called after update number `update`, counted from 1.
  void update(std::int64_t update);

  /// Averages of the batch norms' running statistics.
  [[nodiscard]] engine::Arena& statistics() { return *statistics_; }
  /// Returns copies of the averages, with the names and order of weights_of(). Allocates.
  [[nodiscard]] std::vector<NamedTensor> weights() const;
  /// Returns weights() with the names that a resume file uses.
  [[nodiscard]] std::vector<NamedTensor> state() const;
  /// Restores the averages from state(), bit for bit. Throws ConfigError listing tensors that are missing, unexpected
  /// or of another shape, and then changes nothing.
  /// @param what file name, for errors
  void restore(const std::vector<NamedTensor>& state, std::string_view what);

 private:
  [[nodiscard]] engine::Arena& arena_of(const graph::Parameter& parameter) const;

  engine::Executable& executable_;
  double decay_;
  std::unique_ptr<engine::Arena> weights_;
  std::unique_ptr<engine::Arena> statistics_;
};

}  // namespace roentgen::train
