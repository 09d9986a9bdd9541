// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of the two losses. Logits are f32, the computation is in double. The work is small: forward and backward use
// one block each.
#pragma once

#include <cstdint>

#include "engine/cuda/plan/lowering.h"
#include "graph/ops/losses.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Largest number of heads of a loss: the network's logits and the logits of its auxiliary classifiers.
inline constexpr int kMostHeads = graph::kMostAuxiliary + 1;

/// Labels of a loss, and how its terms are reduced to one number. Pointers are to device memory.
struct LossTerms {
  const float* labels = nullptr;             ///< (N, K); for a softmax loss (N, 1) with the index of the class
  const float* mask = nullptr;               ///< in the shape of `labels`: 1 known, 0 unknown
  std::int64_t N = 0;                        ///< number of images
  std::int64_t K = 0;                        ///< number of classes
  graph::Reduction reduction{};              ///< selects the divisor of the sum of terms
  bool is_partial = false;                   ///< true: the divisor counts unknown labels, too
  bool is_softmax = false;                   ///< true: softmax cross-entropy, false: sigmoid cross-entropy
  const double* positive_weights = nullptr;  ///< sigmoid loss: weights (K) of positive labels; null: all 1
  double label_smoothing = 0.0;              ///< softmax loss: label smoothing
};

/// Logits (N, K) of one head, in device memory, and the weight of its loss.
struct LossHead {
  const float* logits = nullptr;
  double weight = 1.0;
};
/// Heads of a loss.
struct LossHeads {
  LossHead at[kMostHeads];
  int count = 0;
};

/// Computes *loss = sum of the heads' losses, and *scale = 1 / divisor, which loss_gradient() reads.
void loss(runtime::Stream& stream, const LossTerms& terms, const LossHeads& heads, float* loss, double* scale);
/// Computes the gradient (N, K) of the loss for one head's logits, multiplied by state->loss_scale.
void loss_gradient(runtime::Stream& stream, const LossTerms& terms, const LossHead& head, const double* scale,
                   const StepState* state, float* gradient);

}  // namespace roentgen::engine::cuda
