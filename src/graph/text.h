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

/// Values for the letters a graph text may use in place of numbers; 0 = not given, and then refused where used.
struct Symbols {
  std::int64_t batch = 0;     ///< N
  std::int64_t channels = 0;  ///< C
  std::int64_t image_px = 0;  ///< S
  std::int64_t labels = 0;    ///< K
};

/// Prints with all dimensions as numbers; parse_graph gives the same graph back.
[[nodiscard]] std::string print_graph(const Graph& graph);
/// Prints with the batch dimension of the inputs as N.
[[nodiscard]] std::string print_graph_any_batch(const Graph& graph);
/// Parses a graph. `what` (a file name) and the line number are in the error.
Result<Graph> parse_graph(std::string_view text, std::string_view what, const Symbols& symbols = {});

}  // namespace roentgen::graph
