// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of SiLU to a plan.
#include "graph/ops/silu.h"

#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/simd/flat.h"

namespace roentgen::engine::cpu {

void lower(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Located dst = lowering.define(id, src.layout);
  const FlatLoop<float> loop = [](const float* a, const float*, float* to, std::int64_t n) { simd::silu(a, to, n); };
  lowering.emit_forward(id, "silu", {src.tensor}, dst, {flat_kernel(loop, src.tensor, -1, dst), "simd"}, src.tensor);
}

void lower_backward(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Located diff_dst = lowering.gradient(id, src.layout);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], src.layout);
  lowering.emit_backward(id, "silu", {src.tensor, diff_dst.tensor}, diff_src,
                         {flat_kernel(&simd::silu_backward, src.tensor, diff_dst.tensor, diff_src), "simd"},
                         diff_dst.tensor);
}

}  // namespace roentgen::engine::cpu
