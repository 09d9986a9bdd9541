// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of the sigmoid to a plan.
#include "graph/ops/sigmoid.h"

#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/simd/flat.h"

namespace roentgen::engine::cpu {

void lower(const graph::Sigmoid&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located given = lowering.value_f32(node.inputs[0]);
  // Padding must stay 0, but the sigmoid of 0 is 0.5. So values with padding are converted to a layout without it.
  const bool has_padding = padded_channels(given.shape, given.layout) != given.shape[1];
  const Located src = has_padding ? lowering.value_in(node.inputs[0], {}) : given;
  const Located dst = lowering.define(id, src.layout);
  const FlatLoop<float> loop = [](const float* a, const float*, float* to, std::int64_t n) { simd::sigmoid(a, to, n); };
  lowering.emit_forward(id, "sigmoid", {src.tensor}, dst, {flat_kernel(loop, src.tensor, -1, dst), "simd"}, src.tensor);
}

void lower_backward(const graph::Sigmoid&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located dst = lowering.value_f32(id);
  const Located diff_dst = lowering.gradient(id, dst.layout);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], dst.layout);
  lowering.emit_backward(id, "sigmoid", {dst.tensor, diff_dst.tensor}, diff_src,
                         {flat_kernel(&simd::sigmoid_backward, dst.tensor, diff_dst.tensor, diff_src), "simd"},
                         diff_dst.tensor);
}

}  // namespace roentgen::engine::cpu
