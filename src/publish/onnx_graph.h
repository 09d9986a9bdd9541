// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a trained network to an ONNX model that takes gray pixels and gives probabilities.
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
  /// Function that computes probabilities from logits: "sigmoid" or "softmax".
  std::string loss = "sigmoid";
  /// Temperature that divides all logits; 1: unchanged.
  double temperature = 1.0;
  /// True: merges batch norms that follow a convolution into its weights, which gives fewer operators and different
  /// rounding.
  bool is_folding_batch_norm = false;
  std::map<std::string, std::string> metadata;
};

/// Converts a network to ONNX. Input: "image" (N, 1, size, size), gray levels 0 to 255 as stored, already fitted and
/// resized. Outputs: "probabilities" and "logits" (N, K). The ONNX graph includes normalisation, and repeats the gray
/// level for networks with 3 input channels. Weights are found by the names of the graph's parameters. Throws
/// ConfigError for a missing weight, a wrong shape, or an op without an ONNX operator (losses).
[[nodiscard]] io::OnnxModel to_onnx(const graph::Graph& graph, const std::vector<train::NamedTensor>& weights,
                                    const OnnxOptions& options);

}  // namespace roentgen::publish
