// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of dropout to a plan.
#include "graph/ops/dropout.h"

#include "engine/cuda/elementwise/mask.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {
namespace {
// Returns the kernel of forward or backward. Forward and backward draw the same mask, which is not stored.
NamedKernel mask_kernel(const graph::Dropout& op, graph::NodeId id, Lowering& lowering, const Located& from,
                        const Located& to) {
  const Mask work{.type = from.layout.dtype,
                  .seed = lowering.options().seed ^ (static_cast<std::uint64_t>(id) << 32),
                  .probability = op.probability,
                  .count = stored_elements(from.shape, from.layout)};
  return {make_kernel([=, stream = lowering.stream(), state = lowering.step_state()](const Addresses& at) {
            Mask bound = work;
            bound.state = reinterpret_cast<const StepState*>(at.bytes(state));
            bound.src = at.bytes(from.tensor);
            bound.dst = at.bytes(to.tensor);
            return [=] { mask(*stream, bound); };
          }),
          "philox"};
}
}  // namespace

void lower(const graph::Dropout& op, graph::NodeId id, Lowering& lowering) {
  const Located src = lowering.value(lowering.node(id).inputs[0]);
  if (!lowering.is_training() || op.probability <= 0.0) {
    lowering.define_as(id, src);
    return;
  }
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "dropout", {src.tensor, lowering.step_state()}, dst,
                        mask_kernel(op, id, lowering, src, dst), src.tensor);
}

void lower_backward(const graph::Dropout& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located dst = lowering.value(id);
  const Located diff_dst = lowering.gradient(id, dst.layout);
  if (op.probability <= 0.0) {
    lowering.contribute(node.inputs[0], diff_dst);
    return;
  }
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], dst.layout);
  lowering.emit_backward(id, "dropout", {diff_dst.tensor, lowering.step_state()}, diff_src,
                         mask_kernel(op, id, lowering, diff_dst, diff_src), diff_dst.tensor);
}

}  // namespace roentgen::engine::cuda
