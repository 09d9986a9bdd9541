// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Appends a loss to a classifier, so that models only produce logits.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace roentgen::graph {

/// Options of a loss, by the names in recipes and graph text (graph/ops/losses.h has the formulas).
struct LossConfig {
  /// "sigmoid": independent labels with a mask. "softmax": exactly one of K classes.
  std::string kind = "sigmoid";
  /// Reduction over a batch: "mean_known", "mean_batch" or "sum".
  std::string reduction = "mean_known";
  /// True: the batch is one of several in an update (SigmoidCrossEntropy::is_partial).
  bool is_partial = false;
  /// Label smoothing of softmax, from 0 to below 1; must be 0 for sigmoid.
  double label_smoothing = 0.0;
  /// Weight of the positive term of each label, for the sigmoid loss only. Empty: all weights are 1.
  std::vector<double> positive_weights;
};

/// Appends a loss to a graph with an output "logits" (N, K). Adds inputs "labels" and "mask" ((N, K) for sigmoid, (N,
/// 1) for softmax), the node "loss" and the output "loss" (1). Adds the loss of every Auxiliary node's logits, times
/// the node's weight.
///   Throws ConfigError if the graph has no logits or already has a loss. Throws ConfigError also for an unknown name,
///   or an option of the other kind of loss. Throws ShapeError if the shapes do not fit the loss.
[[nodiscard]] Graph with_loss(Graph graph, const LossConfig& config);

}  // namespace roentgen::graph
