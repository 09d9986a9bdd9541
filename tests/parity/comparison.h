// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares training passes of an executable of any engine with a golden file, with weights and batches from the
// formulas.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "graph/graph.h"
#include "tests/parity/golden.h"

namespace roentgen::parity {

/// Graph of a golden network, followed by the masked sigmoid cross-entropy.
[[nodiscard]] graph::Graph graph_of(const Golden& golden);
/// Graph of a built-in model with the same loss and without dropout.
[[nodiscard]] graph::Graph model_graph(std::string_view model, const Shape& image, std::int64_t labels,
                                       std::int64_t width = 64);

/// Loads the formula's parameters and running statistics.
void load_formula(engine::Executable& executable);
/// Writes batch `index` into slot 0 and binds this slot.
void feed(engine::Executable& executable, std::int64_t index);
/// Loss of the last forward pass.
[[nodiscard]] double loss_of(const engine::Executable& executable);

/// Comparison of one training pass over each batch with a golden file.
struct Comparison {
  /// Relative L2 error of each parameter's gradient (root mean square over the batches).
  std::map<std::string, double> gradients;
  double logits_max_abs = 0.0;
  double loss_max_abs = 0.0;
  /// Relative L2 errors of running means and variances after the first batch.
  std::map<std::string, double> running;
};
/// Runs one training pass over each batch and compares it. `executable` is the golden network with load_formula()'s
/// parameters and one slot of f32 values.
[[nodiscard]] Comparison compare_training(const Golden& golden, engine::Executable& executable);

/// Values of a map, without its keys.
[[nodiscard]] std::vector<double> values_of(const std::map<std::string, double>& map);

}  // namespace roentgen::parity
