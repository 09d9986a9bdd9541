// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Graphs as text: printed and parsed, so that a model is also a file.
//
//   graph "tiny"
//   input image (N, C, S, S)            # N batch, C channels, S image side, K labels; or plain numbers
//   conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1, bias=no)
//   norm1 = batch_norm(conv1)
//   relu1 = relu(norm1)
//   pool = global_avg_pool(relu1)
//   flat = flatten(pool)
//   fc = linear(flat, out=K)
//   output logits = fc
//
// One statement a line; '#' starts a comment. Attributes at their default are not printed. Inits: init=constant:0,
// normal:0.01, he_fan_out, he_fan_in, uniform_fan_in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

namespace roentgen::graph {

/// Values of the letters that a graph text may contain instead of numbers. A letter with value 0 is refused.
struct Symbols {
  std::int64_t batch = 0;     ///< value of N
  std::int64_t channels = 0;  ///< value of C
  std::int64_t image_px = 0;  ///< value of S
  std::int64_t labels = 0;    ///< value of K
};

/// Prints a graph with all dimensions as numbers. parse_graph() restores the same graph.
[[nodiscard]] std::string print_graph(const Graph& graph);
/// Prints a graph with the letter N as batch dimension of the inputs.
[[nodiscard]] std::string print_graph_any_batch(const Graph& graph);
/// Parses a graph. Errors contain `what` (a file name) and the line number.
Result<Graph> parse_graph(std::string_view text, std::string_view what, const Symbols& symbols = {});

}  // namespace roentgen::graph
