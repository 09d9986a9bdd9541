// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of dropout to a plan.
#include "graph/ops/dropout.h"

#include "core/random.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
// Number of elements per random stream. The mask depends on the position of an element, not on the thread.
constexpr std::int64_t kChunk = 1024;

struct MaskWork {
  std::int64_t count;
  double probability;
  std::uint64_t seed;
  std::uint64_t node;
  const StepState* state;
};

// Computes to = from * keep / (1 - p). Forward and backward draw the same mask again instead of storing it.
void mask(const MaskWork& work, const float* from, float* to) {
  const auto scale = static_cast<float>(1.0 / (1.0 - work.probability));
  parallel_ranges(omp_get_max_threads(), work.count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; chunk += kChunk) {
      Random random({.seed = work.seed ^ (work.node << 32),
                     .epoch = static_cast<std::uint32_t>(chunk / kChunk),
                     .sample = static_cast<std::uint64_t>(work.state->step),
                     .stage = static_cast<std::uint32_t>(RandomStage::Dropout)});
      const std::int64_t stop = std::min(chunk + kChunk, end);
      for (std::int64_t i = chunk; i < stop; ++i) {
        to[i] = random.uniform() < work.probability ? 0.0F : from[i] * scale;
      }
    }
  });
}

NamedKernel mask_kernel(const graph::Dropout& op, graph::NodeId id, Lowering& lowering, const Located& from,
                        const Located& to) {
  const MaskWork work{.count = stored_elements(from.shape, from.layout),
                      .probability = op.probability,
                      .seed = lowering.options().seed,
                      .node = static_cast<std::uint64_t>(id),
                      .state = lowering.step_state()};
  return {make_kernel([work, from, to](const Addresses& at) {
            return [work, source = at.f32(from.tensor), target = at.f32(to.tensor)] { mask(work, source, target); };
          }),
          "philox"};
}
}  // namespace

void lower(const graph::Dropout& op, graph::NodeId id, Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const Located src = lowering.value_f32(input);
  if (!lowering.is_training() || op.probability <= 0.0) {
    lowering.define_as(id, src);
    return;
  }
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "dropout", {src.tensor}, dst, mask_kernel(op, id, lowering, src, dst), src.tensor);
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
  lowering.emit_backward(id, "dropout", {diff_dst.tensor}, diff_src, mask_kernel(op, id, lowering, diff_dst, diff_src),
                         diff_dst.tensor);
}

}  // namespace roentgen::engine::cpu
