// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of dropout.
#include "graph/ops/dropout.h"

#include "core/random.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
// Elements per random stream: the mask depends on the element's place, not on who computes it.
constexpr std::int64_t kChunk = 1024;

// to = from * keep / (1 - p); the same mask in forward and backward, drawn again instead of stored.
class Mask final : public Kernel {
 public:
  struct Work {
    TensorId from;
    TensorId to;
    std::int64_t count;
    double probability;
    std::uint64_t seed;
    std::uint64_t node;
  };
  Mask(const Work& work, const StepState* state) : work_(work), state_(state) {}
  void bind(const Addresses& addresses) override {
    from_ = addresses.f32(work_.from);
    to_ = addresses.f32(work_.to);
  }
  void run() override {
    const auto scale = static_cast<float>(1.0 / (1.0 - work_.probability));
    parallel_ranges(omp_get_max_threads(), work_.count, kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; chunk += kChunk) {
        Random random({.seed = work_.seed ^ (work_.node << 32),
                       .epoch = static_cast<std::uint32_t>(chunk / kChunk),
                       .sample = static_cast<std::uint64_t>(state_->step),
                       .stage = static_cast<std::uint32_t>(RandomStage::Dropout)});
        const std::int64_t stop = std::min(chunk + kChunk, end);
        for (std::int64_t i = chunk; i < stop; ++i) {
          to_[i] = random.uniform() < work_.probability ? 0.0F : from_[i] * scale;
        }
      }
    });
  }

 private:
  Work work_;
  const StepState* state_;
  const float* from_ = nullptr;
  float* to_ = nullptr;
};

void emit_mask(const graph::Dropout& op, graph::NodeId id, Lowering& lowering, const Located& from, const Located& to) {
  const bool is_forward = to.tensor == lowering.value(id).tensor;
  auto kernel = std::make_unique<Mask>(Mask::Work{.from = from.tensor,
                                                  .to = to.tensor,
                                                  .count = stored_elements(from.shape, from.layout),
                                                  .probability = op.probability,
                                                  .seed = lowering.options().seed,
                                                  .node = static_cast<std::uint64_t>(id)},
                                       lowering.step_state());
  lowering.emit(lowering.node(id),
                {.what = is_forward ? "forward" : "backward",
                 .kind = is_forward ? "dropout_forward" : "dropout_backward",
                 .pass = is_forward ? Pass::Forward : Pass::BackwardData,
                 .reads = {from.tensor},
                 .writes = {to.tensor},
                 .implementation = "philox",
                 .in_place = {{from.tensor, to.tensor}}},
                std::move(kernel));
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
  emit_mask(op, id, lowering, src, dst);
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
  emit_mask(op, id, lowering, diff_dst, diff_src);
  lowering.contribute(node.inputs[0], diff_src);
}

}  // namespace roentgen::engine::cpu
