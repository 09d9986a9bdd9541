// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Time of a step's convolutions alone, the lower bound of a step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "engine/engine.h"

namespace roentgen::bench {

/// The convolutions and linear layers of a plan, each run alone on the step's own buffers; best times over all calls of
/// measure(). One thread.
class Floor {
 public:
  /// `executable` outlives it.
  explicit Floor(engine::Executable& executable);

  /// Runs each entry four times. Overwrites the values of the previous step; the next step recomputes them.
  void measure();

  /// Sum over all entries. nullopt where the engine cannot time single entries, and before the first measure().
  [[nodiscard]] std::optional<double> seconds() const;
  /// Best time of one entry of the plan; nullopt for entries that are no convolution.
  [[nodiscard]] std::optional<double> seconds(std::int32_t entry) const;

 private:
  engine::Executable& executable_;
  bool is_measured_ = false;
  std::map<std::int32_t, double> best_s_;
};

}  // namespace roentgen::bench
