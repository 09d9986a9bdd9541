// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of the two losses, on logits in f32, in double precision: small, one block each way.
#pragma once

#include <cstdint>

#include "engine/cuda/plan/lowering.h"
#include "graph/ops/losses.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Most logits of a loss: those of the network and of its auxiliary classifiers.
inline constexpr int kMostHeads = graph::kMostAuxiliary + 1;

/// Labels of a loss and how its terms become one number. Device memory.
struct LossTerms {
  const float* labels = nullptr;             ///< (N, K); softmax: (N, 1), the index of a class
  const float* mask = nullptr;               ///< as labels: 1 known, 0 unknown
  std::int64_t N = 0;                        ///< images
  std::int64_t K = 0;                        ///< classes
  graph::Reduction reduction{};              ///< divisor
  bool is_softmax = false;                   ///< softmax cross-entropy, else sigmoid
  const double* positive_weights = nullptr;  ///< sigmoid: (K); null: all 1
  double label_smoothing = 0.0;              ///< softmax
};

/// Logits (N, K) of one head and the weight of its loss.
struct LossHead {
  const float* logits = nullptr;
  double weight = 1.0;
};
/// Heads of a loss.
struct LossHeads {
  LossHead at[kMostHeads];
  int count = 0;
};

/// *loss = sum of the heads' losses; *scale = 1 / divisor, which loss_gradient() reads.
void loss(runtime::Stream& stream, const LossTerms& terms, const LossHeads& heads, float* loss, double* scale);
/// gradient (N, K) of the loss by one head's logits, times state->loss_scale.
void loss_gradient(runtime::Stream& stream, const LossTerms& terms, const LossHead& head, const double* scale,
                   const StepState* state, float* gradient);

}  // namespace roentgen::engine::cuda
