// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of the passes of a convolution, for conv2d.cpp and linear.cpp, and the form of its weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

/// Weights (OC, C, KH * KW) in the arena as (OC, KH * KW, C), both channels padded with zeros.
struct WeightShape {
  std::int64_t out_channels = 0;
  std::int64_t channels = 0;  ///< of a group
  std::int64_t taps = 1;      ///< KH * KW
  std::int64_t padded_out_channels = 0;
  std::int64_t padded_channels = 0;

  /// Elements with padding.
  [[nodiscard]] std::int64_t stored() const { return padded_out_channels * taps * padded_channels; }
};
/// ParameterLayout of such weights.
[[nodiscard]] std::unique_ptr<ParameterLayout> weights_layout(const WeightShape& shape);
/// `channels` rounded up to whole blocks.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
}

/// Tensors of a pass; see ConvOperands.
struct PassTensors {
  TensorId src = -1;
  TensorId weights = -1;
  TensorId dst = -1;
};
/// Adds the entry of one pass, of the kind "<op>_<pass>".
void emit_pass(const graph::Node& node, const std::string& op, const ConvProblem& problem, const PassTensors& tensors,
               Lowering& lowering);
/// Adds the entries that fill the gradient of the parameter "weight": the pass, and in a narrow type the conversion of
/// its result to f32.
void emit_weight_gradient(const graph::Node& node, const std::string& op, const ConvProblem& problem,
                          const WeightShape& shape, PassTensors tensors, Lowering& lowering);
/// True for a ReLU that alone reads a convolution or linear layer with a bias. It is applied where the bias is added,
/// to the same bits, and its value is the layer's.
[[nodiscard]] bool acts_with_bias(graph::NodeId relu, const Lowering& lowering);
/// Adds the entry of dst[..., c] += bias[c] for the layer `id`, with the ReLU that acts there, and sets the form of the
/// parameter "bias".
void emit_bias(graph::NodeId id, const Located& dst, Lowering& lowering);
/// Adds the entry that fills the gradient of the parameter "bias": sums of diff_dst over all but the channels.
void emit_bias_gradient(const graph::Node& node, const Located& diff_dst, Lowering& lowering);

}  // namespace roentgen::engine::cuda
