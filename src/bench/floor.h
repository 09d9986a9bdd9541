// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Time of a step's convolutions alone, a lower bound for the time of the step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "engine/engine.h"

namespace roentgen::bench {

/// Times the convolutions and linear layers of a plan, each run alone on the buffers of the step. Keeps the shortest
/// time of each layer over all calls of measure(). For use by one thread.
class Floor {
 public:
  /// `executable` must outlive this object.
  explicit Floor(engine::Executable& executable);

  /// Runs each convolution and linear layer four times. Overwrites the values of the previous step; the next step
  /// recomputes them.
  void measure();

  /// Sum of the best times of all convolutions and linear layers. nullopt if the engine cannot time single entries, and
  /// before the first measure().
  [[nodiscard]] std::optional<double> seconds() const;
  /// Best time of one entry of the plan, seconds; nullopt if the entry is no convolution or linear layer.
  [[nodiscard]] std::optional<double> seconds(std::int32_t entry) const;

 private:
  engine::Executable& executable_;
  bool is_measured_ = false;
  std::map<std::int32_t, double> best_s_;
};

}  // namespace roentgen::bench
