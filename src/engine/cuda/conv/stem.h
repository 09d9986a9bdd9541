// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stem: the strided convolution of the input image. It is computed in f16 with few channels, also in networks of bf16.
//
// Forward and weight gradient of ResNet-50's 7x7 stem at batch 256 by cuDNN: 1,768 + 1,115 us in bf16. In f16 with 4
// channels: 406 + 402 us (H200, cuDNN 9.19). In a network of bf16 the stem converts at its edges. Image and weights
// become f16, its result bf16, its gradient f16 and the weights' gradient f32.
#pragma once

#include "engine/cuda/conv/conv_pass.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

/// Channels of the stem's image and weights, padded with zeros: 4 or 8.
inline constexpr int kStemChannels = 4;
/// Factor of the stem's gradient in f16, in networks of bf16. Gradients of the loss by one result of the stem are 1e-7
/// to 1e-3 in training. The factor brings them to normal numbers of f16, from 6e-5 on. The gradient of a weight is
/// summed over all results and stored with the same factor; it stays in range up to 64.
inline constexpr float kStemGradientScale = 1024.0F;

/// Layout of the stem's image.
[[nodiscard]] constexpr Layout stem_image_layout() { return {Order::ChannelsLast, kStemChannels, DType::F16}; }

/// True for a convolution that is computed as a stem: it trains in 16 bits, and it is strided. It alone reads an input
/// of at most kStemChannels channels. Without a stride the conversions cost more memory traffic than the image's
/// padding.
[[nodiscard]] bool is_stem(const graph::Conv2d& op, graph::NodeId id, const Lowering& lowering);

/// Adds the stem's forward. Images are normalised, so sums in f16 overflow (65,504) only under weights of a network
/// that has diverged. The result and the loss are then not finite, which stops the update.
void emit_stem(const graph::Node& node, const ConvProblem& problem, const WeightShape& weights, const Located& src,
               const Located& dst, Lowering& lowering);
/// Adds the stem's weight gradient from the gradient of its result. There is no data gradient: nothing trained lies
/// before an image. In networks of bf16, gradients beyond f16's range are limited to it, and NaN stays NaN.
void emit_stem_weight_gradient(const graph::Node& node, const ConvProblem& problem, const WeightShape& weights,
                               const Located& src, const Located& diff_dst, Lowering& lowering);

}  // namespace roentgen::engine::cuda
