// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/conformance/cases.h"

#include <iterator>
#include <utility>

#include "core/random.h"

namespace roentgen::engine::conformance {
namespace {
void append(std::vector<Case>& cases, std::vector<Case> more) {
  cases.insert(cases.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}
}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> cases;
#define RG_APPEND_CASES(Kind) append(cases, cases_of(graph::Kind{}));
  RG_OP_LIST(RG_APPEND_CASES)
#undef RG_APPEND_CASES
  append(cases, network_cases());
  return cases;
}

std::vector<float> random_labels(std::int64_t count) {
  Random random(1, RandomStage::Test);
  std::vector<float> labels(static_cast<std::size_t>(count));
  for (float& label : labels) {
    label = random.chance(0.2) ? static_cast<float>(random.uniform()) : random.chance(0.5) ? 1.0F : 0.0F;
  }
  return labels;
}

std::vector<float> random_mask(std::int64_t count) {
  Random random(2, RandomStage::Test);
  std::vector<float> mask(static_cast<std::size_t>(count));
  for (float& known : mask) known = random.chance(0.25) ? 0.0F : 1.0F;
  mask.front() = 1.0F;
  return mask;
}

CaseBuilder::CaseBuilder(const std::string& name)
    : case_{.name = name, .graph = {}, .values = {}, .zero_gradients = {}}, builder_(name) {}

graph::NodeId CaseBuilder::image(const Shape& shape) {
  image_ = builder_.input("image", shape);
  return image_;
}

graph::NodeId CaseBuilder::upstream(const Shape& wanted, const std::string& name) {
  if (image_ < 0) image({wanted[0], 3, wanted[2], wanted[3]});
  return builder_.add(name, graph::Conv2d{.out_channels = wanted[1], .bias = false}, {image_});
}

graph::NodeId CaseBuilder::add(std::string name, graph::Op op, const std::vector<graph::NodeId>& inputs) {
  return builder_.add(std::move(name), std::move(op), inputs);
}

Case CaseBuilder::finish(graph::NodeId last) && {
  constexpr std::int64_t kLabels = 3;
  if (builder_.shape(last).rank() != 2) last = builder_.add("rows", graph::Flatten{}, {last});
  const graph::NodeId logits = builder_.add("logits", graph::Linear{.out_features = kLabels}, {last});
  const std::int64_t count = builder_.shape(logits).elements();
  value("labels", random_labels(count));
  value("mask", random_mask(count));
  return std::move(*this).finish_with_loss(logits, graph::SigmoidCrossEntropy{}, builder_.shape(logits));
}

Case CaseBuilder::finish_with_loss(graph::NodeId logits, graph::Op loss, const Shape& labels,
                                   const std::vector<graph::NodeId>& heads) && {
  builder_.output("logits", logits);
  const Shape shape = labels;
  const graph::NodeId label_input = builder_.input("labels", shape);
  const graph::NodeId mask_input = builder_.input("mask", shape);
  std::vector<graph::NodeId> inputs{logits, label_input, mask_input};
  inputs.insert(inputs.end(), heads.begin(), heads.end());
  builder_.output("loss", builder_.add("loss", std::move(loss), inputs));
  case_.graph = std::move(builder_).build();
  return std::move(case_);
}

Case single_op_case(const std::string& name, graph::Op op, const Shape& src) {
  CaseBuilder builder(name);
  const graph::NodeId up = builder.upstream(src);
  return std::move(builder).finish(builder.add("op", std::move(op), {up}));
}

}  // namespace roentgen::engine::conformance
