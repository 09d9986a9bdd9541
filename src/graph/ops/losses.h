// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sigmoid and softmax cross-entropy losses on logits.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Formula that reduces the loss terms of a batch to one number.
enum class Reduction : int {
  MeanKnown,  ///< sum / number of known labels (mask > 0): the default; equals torch's mean when all are known
  MeanBatch,  ///< sum / number of images with any known label
  Sum,
};

/// Largest number of auxiliary classifiers in a network.
inline constexpr int kMostAuxiliary = 8;

/// Multi-label sigmoid cross-entropy. Inputs: logits z (N, K), labels t (N, K) in [0, 1], mask m (N, K). Output (1).
/// Mask 1 means the label is known. Mask 0 means unknown: the label is ignored and has no gradient.
///   term = m * (softplus(z) - t z) with positive weight 1; in general
///   term = m * (p t softplus(-z) + (1 - t) softplus(z)), p = positive_weights[k] (empty: 1).
///   diff_logits = m * ((1 - t) s - p t (1 - s)) / divisor, s = 1 / (1 + exp(-z)). Sums run in double. Training:
///   further inputs a_i (N, K) are the logits of auxiliary classifiers. The value is then loss(z) + sum_i
///   auxiliary_weights[i] loss(a_i). Inference reads only the first three inputs.
struct SigmoidCrossEntropy {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "sigmoid_cross_entropy", .inputs_min = 3, .inputs_max = 3 + kMostAuxiliary};
  int reduction = 0;  ///< reduction of the loss terms, a value of Reduction
  /// True: the batch is one of several in an update, so the number of known labels of the update is not known yet. The
  /// divisor then counts unknown labels, too: N K labels, or N images. All batches of the update thus have equal
  /// divisors, and train/loss_weight.h corrects their mean.
  bool is_partial = false;
  std::vector<double> positive_weights;  ///< (K) weights of positive labels; empty if all are 1
  /// Weights of the auxiliary classifiers' losses, one for each input after the third.
  std::vector<double> auxiliary_weights;

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const SigmoidCrossEntropy&, const SigmoidCrossEntropy&) = default;
};

/// Softmax cross-entropy with label smoothing e (Szegedy et al. 2016). Inputs: logits (N, K), class index (N, 1) as
/// f32, mask (N, 1). Output (1). With q = (1 - e) onehot + e / K and p = softmax(z):
///   term = -m * sum_k q_k log p_k; diff_logits = m * (p - q) / divisor. MeanKnown divides by sum of m. Auxiliary
///   classifiers work as in SigmoidCrossEntropy.
struct SoftmaxCrossEntropy {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "softmax_cross_entropy", .inputs_min = 3, .inputs_max = 3 + kMostAuxiliary};
  int reduction = 0;             ///< reduction of the loss terms, a value of Reduction
  bool is_partial = false;       ///< as in SigmoidCrossEntropy, with one label per image
  double label_smoothing = 0.0;  ///< label smoothing e, from 0 to below 1
  /// Weights of the auxiliary classifiers' losses, one for each input after the third.
  std::vector<double> auxiliary_weights;

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const SoftmaxCrossEntropy&, const SoftmaxCrossEntropy&) = default;
};

}  // namespace roentgen::graph
