// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A trained network as an ONNX model: gray pixels in, probabilities out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/transform/preprocess.h"
#include "graph/graph.h"
#include "io/onnx.h"
#include "train/weights.h"

namespace roentgen::publish {

/// Settings of to_onnx().
struct OnnxOptions {
  data::Preprocess preprocess;
  /// "sigmoid" or "softmax".
  std::string loss = "sigmoid";
  /// Temperature that divides all logits; 1 = as trained.
  double temperature = 1.0;
  /// Batch norms that follow a convolution become part of its weights: fewer operators, other rounding.
  bool is_folding_batch_norm = false;
  std::map<std::string, std::string> metadata;
};

/// Converts a network. Input: "image" (N, 1, size, size), gray levels 0 to 255 as stored, already fitted and resized.
/// Outputs: "probabilities" and "logits" (N, K). Normalisation is in the graph; a network with 3 input channels gets
/// the gray level in all three. Weights are found by the names of the graph's parameters. Throws ConfigError for one
/// that is missing or of another shape, or an op that ONNX has no operator for (losses).
[[nodiscard]] io::OnnxModel to_onnx(const graph::Graph& graph, const std::vector<train::NamedTensor>& weights,
                                    const OnnxOptions& options);

}  // namespace roentgen::publish
