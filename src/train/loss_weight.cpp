// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/loss_weight.h"

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "graph/ops/losses.h"

namespace roentgen::train {
namespace {

/// Attributes that both losses have.
struct Loss {
  graph::Reduction reduction{};
  bool is_partial = false;
};

Loss loss_of(const graph::Graph& graph) {
  for (const graph::Node& node : graph.nodes()) {
    if (const auto* const op = std::get_if<graph::SigmoidCrossEntropy>(&node.op)) {
      return {static_cast<graph::Reduction>(op->reduction), op->is_partial};
    }
    if (const auto* const op = std::get_if<graph::SoftmaxCrossEntropy>(&node.op)) {
      return {static_cast<graph::Reduction>(op->reduction), op->is_partial};
    }
  }
  return {};
}

}  // namespace

LossWeight::LossWeight(engine::Executable& executable, std::int64_t batches)
    : executable_(executable), batches_(static_cast<double>(batches)) {
  const Loss loss = loss_of(executable.graph());
  if (!loss.is_partial) return;
  const std::vector<engine::InputSpec>& inputs = executable.inputs();
  const auto mask = std::ranges::find(inputs, "mask", &engine::InputSpec::name);
  RG_ASSERT(mask != inputs.end());
  mask_ = mask - inputs.begin();
  columns_ = mask->shape[1];
  rule_ = loss.reduction == graph::Reduction::Sum         ? Rule::Sum
          : loss.reduction == graph::Reduction::MeanBatch ? Rule::Images
                                                          : Rule::Labels;
}

LossCount LossWeight::of(int slot) const {
  if (rule_ == Rule::None) return {.batch_divisor = 1.0, .update_divisor = 1.0};
  if (rule_ == Rule::Sum) return {.batch_divisor = batches_, .update_divisor = 1.0};
  const std::span<const std::byte> bytes = executable_.slot(mask_, slot);
  const std::span mask(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  LossCount count;
  for (std::size_t row = 0; row < mask.size(); row += static_cast<std::size_t>(columns_)) {
    const auto labels = mask.subspan(row, static_cast<std::size_t>(columns_));
    const auto known = static_cast<double>(std::ranges::count_if(labels, [](float each) { return each > 0.0F; }));
    const bool is_by_image = rule_ == Rule::Images;
    count += {.batch_divisor = is_by_image ? 1.0 : static_cast<double>(columns_),
              .update_divisor = is_by_image ? std::min(known, 1.0) : known};
  }
  return count;
}

}  // namespace roentgen::train
