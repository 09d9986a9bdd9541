// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Appends a loss to a classifier, so that models only produce logits.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace roentgen::graph {

/// A loss in the words of recipes and graph text (graph/ops/losses.h has the formulas).
struct LossConfig {
  /// "sigmoid": every label on its own, with a mask. "softmax": one class out of K.
  std::string kind = "sigmoid";
  /// "mean_known", "mean_batch" or "sum".
  std::string reduction = "mean_known";
  /// Softmax only.
  double label_smoothing = 0.0;
  /// Sigmoid only: one weight per label, or none for 1.
  std::vector<double> positive_weights;
};

/// Appends a loss to a graph with an output "logits" (N, K). Adds inputs "labels" and "mask" ((N, K) for sigmoid, (N,
/// 1) for softmax), the node "loss" and the output "loss" (1). Values of Auxiliary nodes are added with their weights.
/// Throws ConfigError for a graph without logits or with a loss, an unknown word, or an option of the other kind.
/// Throws ShapeError where the shape rule of the loss refuses.
[[nodiscard]] Graph with_loss(Graph graph, const LossConfig& config);

}  // namespace roentgen::graph
