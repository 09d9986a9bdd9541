// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of SiLU.
#include "graph/ops/silu.h"

#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/simd/flat.h"

namespace roentgen::engine::cpu {

void lower(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Located dst = lowering.define(id, src.layout);
  lowering.emit(node,
                {.what = "forward",
                 .kind = "silu_forward",
                 .reads = {src.tensor},
                 .writes = {dst.tensor},
                 .implementation = "simd",
                 .in_place = {{src.tensor, dst.tensor}}},
                flat_kernel([](const float* a, const float*, float* to, std::int64_t n) { simd::silu(a, to, n); },
                            src.tensor, -1, dst.tensor, stored_elements(dst.shape, dst.layout)));
}

void lower_backward(const graph::Silu&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Located diff_dst = lowering.gradient(id, src.layout);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], src.layout);
  lowering.emit(node,
                {.what = "backward",
                 .kind = "silu_backward",
                 .pass = Pass::BackwardData,
                 .reads = {src.tensor, diff_dst.tensor},
                 .writes = {diff_src.tensor},
                 .implementation = "simd",
                 .in_place = {{diff_dst.tensor, diff_src.tensor}}},
                flat_kernel(&simd::silu_backward, src.tensor, diff_dst.tensor, diff_src.tensor,
                            stored_elements(src.shape, src.layout)));
  lowering.contribute(node.inputs[0], diff_src);
}

}  // namespace roentgen::engine::cpu
