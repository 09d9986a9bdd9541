// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stem: the strided convolution of the input image. It runs in f16 with few channels, even in bf16 networks.
//
// Measured with ResNet-50's 7x7 stem at batch 256 (H200, cuDNN 9.19), forward plus weight gradient. In bf16: 1,768 +
// 1,115 us; in f16 with 4 channels: 406 + 402 us. So a bf16 network converts around the stem: image and weights to f16,
// its result to bf16. Its gradient is converted to f16, and the gradient of its weights to f32.
#pragma once

#include "engine/cuda/conv/conv_pass.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {

/// Number of channels of the stem's image and weights after padding with zeros. The kernels also work with 8.
inline constexpr int kStemChannels = 4;
/// Factor of the stem's gradient in f16, in bf16 networks. During training, gradients of the loss for single results of
/// the stem are 1e-7 to 1e-3. The factor makes most of them normal numbers of f16 (6e-5 and more). Gradients of weights
/// are sums over all results and have the same factor; they stay in range up to 64.
inline constexpr float kStemGradientScale = 1024.0F;

/// Layout of the stem's image.
[[nodiscard]] constexpr Layout stem_image_layout() { return {Order::ChannelsLast, kStemChannels, DType::F16}; }

/// True for a convolution that runs as a stem. It trains in 16 bits, has a stride, and is the only reader of an input
/// with at most kStemChannels channels. Without a stride, the conversions cost more memory traffic than padding the
/// image to 8 channels.
[[nodiscard]] bool is_stem(const graph::Conv2d& op, graph::NodeId id, const Lowering& lowering);

/// Adds the stem's forward. Images are normalised, so f16 sums overflow (65,504) only if the network has diverged. The
/// result and the loss are then not finite, and the update is skipped.
void emit_stem(const graph::Node& node, const ConvProblem& problem, const WeightShape& weights, const Located& src,
               const Located& dst, Lowering& lowering);
/// Adds the stem's weight gradient. There is no data gradient, because the image needs none. In bf16 networks,
/// gradients beyond f16's range are clamped to it; NaN stays NaN.
void emit_stem_weight_gradient(const graph::Node& node, const ConvProblem& problem, const WeightShape& weights,
                               const Located& src, const Located& diff_dst, Lowering& lowering);

}  // namespace roentgen::engine::cuda
