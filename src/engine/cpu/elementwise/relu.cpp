// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of a ReLU that is not fused into a batch norm.
#include "graph/ops/relu.h"

#include "engine/cpu/conv/folding.h"
#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/simd/flat.h"

namespace roentgen::engine::cpu {
namespace {
std::unique_ptr<Kernel> forward_kernel(const Located& src, const Located& dst) {
  return for_type(dst.layout.dtype, [&]<class T>(T) {
    const FlatLoop<T> loop = [](const T* a, const T*, T* to, std::int64_t n) { simd::relu(a, to, n); };
    return flat_kernel(loop, src.tensor, -1, dst);
  });
}

std::unique_ptr<Kernel> backward_kernel(const Located& dst, const Located& diff_dst, const Located& diff_src) {
  return for_type(dst.layout.dtype, [&]<class T>(T) {
    const FlatLoop<T> loop = &simd::relu_backward;
    return flat_kernel(loop, dst.tensor, diff_dst.tensor, diff_src);
  });
}
}  // namespace

void lower(const graph::Relu&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const bool is_folded = lowering.folded_into(node.inputs[0]) == id;
  if (is_folded && lower_folded(node.inputs[0], {.result = id, .relu = true}, lowering)) return;
  const Located src = lowering.value(node.inputs[0]);
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "relu", {src.tensor}, dst, {forward_kernel(src, dst), "simd"}, src.tensor);
}

void lower_backward(const graph::Relu&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located dst = lowering.value(id);
  const Located diff_dst = lowering.gradient(id, dst.layout);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], dst.layout);
  lowering.emit_backward(id, "relu", {dst.tensor, diff_dst.tensor}, diff_src,
                         {backward_kernel(dst, diff_dst, diff_src), "simd"}, diff_dst.tensor);
}

}  // namespace roentgen::engine::cpu
