// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/conv_geometry.h"

namespace roentgen::engine::cpu {
namespace {

// Padding at the end of an axis with which the output has the inferred size. May be negative.
std::int64_t high_pad(std::int64_t out, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                      std::int64_t dilation) {
  return (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad;
}

}  // namespace

ConvGeometry conv_geometry(const graph::Conv2d& op, const graph::Node& node, const Shape& src) {
  ConvGeometry g;
  g.src = src;
  g.dst = node.shape;
  const std::int64_t IC = src[1] / op.groups;
  const std::int64_t OC = op.out_channels / op.groups;
  g.weights = {OC, IC, op.kernel.height, op.kernel.width};
  if (op.groups > 1) g.weights.insert(g.weights.begin(), op.groups);
  if (op.bias) g.bias = {op.out_channels};
  g.stride = {op.stride.height, op.stride.width};
  g.dilation = {op.dilation.height - 1, op.dilation.width - 1};
  g.pad_low = {op.pad.height, op.pad.width};
  g.pad_high = {high_pad(g.dst[2], src[2], op.kernel.height, op.stride.height, op.pad.height, op.dilation.height),
                high_pad(g.dst[3], src[3], op.kernel.width, op.stride.width, op.pad.width, op.dilation.width)};
  return g;
}

}  // namespace roentgen::engine::cpu
