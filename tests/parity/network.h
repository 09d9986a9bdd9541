// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The network of a golden file on the CPU engine, with weights and batches from the formulas.
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

/// Graph of a golden network, followed by the masked sigmoid cross-entropy.
[[nodiscard]] graph::Graph graph_of(const Golden& golden);
/// Graph of a built-in model with the same loss and without dropout.
[[nodiscard]] graph::Graph model_graph(std::string_view model, const Shape& image, std::int64_t labels,
                                       std::int64_t width = 64);

/// Convolution kernels to test. Winograd: all layers that these kernels support. Split, Split2: products of bf16
/// numbers on machines that have them; the backward pass uses six or three products. Auto: kernels chosen by the
/// engine's rule. Bf16: values are stored in bf16 (CompileOptions::dtype).
enum class Convolutions : std::uint8_t { Direct, Winograd, Split, Split2, Auto, Bf16 };
/// Name in a test's output, such as " by Winograd"; empty for Direct.
[[nodiscard]] std::string_view name_of(Convolutions convolutions);

/// Compiles for the CPU and loads the formula's parameters and running statistics. Throws ConfigError if the machine
/// has no Winograd kernels.
[[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph, engine::Form form,
                                                          Convolutions convolutions = Convolutions::Direct);
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
[[nodiscard]] Comparison compare_training(const Golden& golden, Convolutions convolutions);
/// Relative L2 distance between each parameter's gradients with two kinds of convolution kernels, for the first batch.
[[nodiscard]] std::map<std::string, double> gradient_distances(const Golden& golden, Convolutions one,
                                                               Convolutions other);

/// Values of a map, without its keys.
[[nodiscard]] std::vector<double> values_of(const std::map<std::string, double>& map);

}  // namespace roentgen::parity
