// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of a convolution's passes to a plan, for conv2d.cpp and linear.cpp. Defines the layout of its
// weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

/// Shape of weights (OC, C, KH * KW). The arena stores them as (OC, KH * KW, C), with OC and C padded by zeros.
struct WeightShape {
  std::int64_t out_channels = 0;
  std::int64_t channels = 0;  ///< input channels of one group
  std::int64_t taps = 1;      ///< KH * KW
  std::int64_t padded_out_channels = 0;
  std::int64_t padded_channels = 0;

  /// Number of stored elements, padding included.
  [[nodiscard]] std::int64_t stored() const { return padded_out_channels * taps * padded_channels; }
};
/// Returns the layout of weights with this shape in the arena.
[[nodiscard]] std::unique_ptr<ParameterLayout> weights_layout(const WeightShape& shape);
/// `channels` rounded up to a multiple of kChannelBlock.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
}

/// Tensors of a pass: the operands of ConvOperands as tensor ids.
struct PassTensors {
  TensorId src = -1;
  TensorId weights = -1;
  TensorId dst = -1;
};
/// Adds the plan entry of one pass; its kind is "<op>_<pass>".
void emit_pass(const graph::Node& node, const std::string& op, const ConvProblem& problem, const PassTensors& tensors,
               Lowering& lowering);
/// Adds the entries that compute the gradient of the parameter "weight". In a 16-bit type, a second entry converts the
/// result of the pass to f32.
void emit_weight_gradient(const graph::Node& node, const std::string& op, const ConvProblem& problem,
                          const WeightShape& shape, PassTensors tensors, Lowering& lowering);
/// True for a ReLU that is the only reader of a convolution or linear layer with bias. The kernel that adds the bias
/// then applies the ReLU in place, with bit-identical results.
[[nodiscard]] bool acts_with_bias(graph::NodeId relu, const Lowering& lowering);
/// True for a ReLU that acts with the bias of a convolution, and whose backward also sums the gradient of this bias.
/// The convolution's channels must be whole packs.
[[nodiscard]] bool sums_bias_gradient(graph::NodeId relu, const Lowering& lowering);
/// Adds the entry of dst[..., c] += bias[c] for the layer `id`, including a ReLU if acts_with_bias(). Sets the layout
/// of the parameter "bias".
void emit_bias(graph::NodeId id, const Located& dst, Lowering& lowering);
/// Adds the entry that computes the gradient of the parameter "bias": the sum of diff_dst over all axes except
/// channels.
void emit_bias_gradient(const graph::Node& node, const Located& diff_dst, Lowering& lowering);

}  // namespace roentgen::engine::cuda
