// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A network of a golden file on our CPU engine, filled by the formula and fed by it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "graph/graph.h"
#include "tests/parity/golden.h"

namespace roentgen::parity {

/// The graph of a golden network, with the masked sigmoid cross-entropy behind it.
[[nodiscard]] graph::Graph graph_of(const Golden& golden);
/// A model of the list with that loss and without dropout.
[[nodiscard]] graph::Graph model_graph(std::string_view model, const Shape& image, std::int64_t labels,
                                       std::int64_t width = 64);

/// Kernels of convolutions. Winograd: wherever its kernels can compute the layer, so that the worst of all choices is
/// checked. Split, Split2: by products of bf16 numbers, where the machine has them, in backward six or three. Auto: by
/// the rule. Bf16: values are stored in it, as by CompileOptions::dtype.
enum class Convolutions : std::uint8_t { Direct, Winograd, Split, Split2, Auto, Bf16 };
/// " by Winograd": how a test's output names it; empty for Direct.
[[nodiscard]] std::string_view name_of(Convolutions convolutions);

/// Compiles for the CPU and loads the formula's parameters and running statistics. ConfigError when the machine has no
/// Winograd kernels.
[[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph, engine::Form form,
                                                          Convolutions convolutions = Convolutions::Direct);
/// Puts batch `index` into slot 0 and binds it.
void feed(engine::Executable& executable, std::int64_t index);
/// The loss of the last forward.
[[nodiscard]] double loss_of(const engine::Executable& executable);

/// Result of one training pass over each batch of a golden file, compared with it.
struct Comparison {
  /// Root mean square over the batches of each parameter's relative L2 error.
  std::map<std::string, double> gradients;
  double logits_max_abs = 0.0;
  double loss_max_abs = 0.0;
  /// Relative L2 errors of running means and variances after the first batch.
  std::map<std::string, double> running;
};
[[nodiscard]] Comparison compare_training(const Golden& golden, Convolutions convolutions);
/// Relative L2 distance of each parameter's gradient by one kind of convolution from that by another, of the first
/// batch.
[[nodiscard]] std::map<std::string, double> gradient_distances(const Golden& golden, Convolutions one,
                                                               Convolutions other);

/// The values of a map.
[[nodiscard]] std::vector<double> values_of(const std::map<std::string, double>& map);

}  // namespace roentgen::parity
