// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch normalisation over (N, H, W), with the ReLU and the residual addition that often follow it.
#pragma once

#include <span>
#include <string_view>

#include "graph/attributes.h"
#include "graph/op.h"

namespace roentgen::graph {

/// Batch norm (Ioffe & Szegedy 2015), optionally with residual and ReLU:
///   dst = act(scale[c] * xhat + shift[c] + residual)
///   xhat = (src - mean[c]) * istd[c], istd = 1 / sqrt(var + epsilon)
/// Training: mean and biased variance of the batch over (N, H, W). Running statistics move by `momentum` towards mean
/// and *unbiased* variance (torch's convention), unless these are not finite. Inference: the running statistics.
/// src (N, C, H, W), optional residual of the same shape (second input), dst of the same shape.
/// Gradients, with g = diff_dst where dst > 0 (all of it without relu), M = N H W:
///   diff_shift = sum g; diff_scale = sum g * xhat; diff_residual = g;
///   diff_src = scale * istd * (g - diff_shift / M - xhat * diff_scale / M).
/// Passes (graph/passes) set `relu`, `folded` and the second input; callers may set them as well.
struct BatchNorm {
  /// Name in graph text, number of inputs, and values that backward reads.
  static constexpr OpInfo kInfo{.name = "batch_norm", .inputs_max = 2, .keeps = {.inputs = true, .output = true}};
  double epsilon = 1e-5;  ///< added to the variance
  double momentum = 0.1;  ///< share of the batch in running statistics
  bool relu = false;      ///< ReLU after the sum; false: identity
  /// Inference only: true if the batch norm is folded into the convolution before it, whose output nothing else reads.
  /// The weights of the convolution then include scale and statistics. The computed values stay the same.
  bool folded = false;

  void visit(AttributeVisitor& visitor);  ///< visits all attributes
  /// Infers output shape and parameters. Throws ShapeError if the inputs do not fit.
  [[nodiscard]] Inferred infer(std::string_view node, std::span<const Shape> inputs) const;
  friend bool operator==(const BatchNorm&, const BatchNorm&) = default;
};

}  // namespace roentgen::graph
