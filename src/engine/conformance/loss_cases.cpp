// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
using graph::NodeId;
using graph::Reduction;

constexpr std::int64_t kBatch = 4;

/// Adds a 1x1 convolution of the image, flatten and a linear layer with K outputs.
NodeId logits_of(CaseBuilder& builder, std::int64_t K) {
  const NodeId rows = builder.add("rows", graph::Flatten{}, {builder.upstream({kBatch, 16, 2, 3})});
  return builder.add("logits", graph::Linear{.out_features = K}, {rows});
}

struct SigmoidValues {
  std::vector<float> labels;
  std::vector<float> mask;
};

Case sigmoid_case(const std::string& name, const graph::SigmoidCrossEntropy& loss, std::int64_t K,
                  const SigmoidValues& values = {}) {
  CaseBuilder builder(name);
  const NodeId logits = logits_of(builder, K);
  builder.value("labels", values.labels.empty() ? random_labels(kBatch * K) : values.labels);
  builder.value("mask", values.mask.empty() ? random_mask(kBatch * K) : values.mask);
  return std::move(builder).finish_with_loss(logits, loss, {kBatch, K});
}

std::vector<float> mask_without_first_image(std::int64_t K) {
  std::vector<float> mask = random_mask(kBatch * K);
  std::fill_n(mask.begin(), K, 0.0F);
  mask.back() = 1.0F;
  return mask;
}

/// Returns labels that are NaN where the mask is 0, since unknown labels must not be read.
SigmoidValues unknown_as_nan(std::int64_t K) {
  SigmoidValues values{random_labels(kBatch * K), random_mask(kBatch * K)};
  for (std::size_t i = 0; i < values.mask.size(); ++i) {
    if (values.mask[i] == 0.0F) values.labels[i] = std::nanf("");
  }
  return values;
}

std::vector<float> random_classes(std::int64_t K) {
  Random random(5, RandomStage::Test);
  std::vector<float> classes(kBatch);
  for (float& value : classes) value = static_cast<float>(random.below(static_cast<std::uint64_t>(K)));
  return classes;
}

Case softmax_case(const std::string& name, const graph::SoftmaxCrossEntropy& loss, std::int64_t K,
                  const std::vector<float>& mask = {1.0F, 1.0F, 1.0F, 1.0F}) {
  CaseBuilder builder(name);
  const NodeId logits = logits_of(builder, K);
  builder.value("labels", random_classes(K));
  builder.value("mask", mask);
  return std::move(builder).finish_with_loss(logits, loss, {kBatch, 1});
}

/// Case with logits and auxiliary logits of the same rows. The loss includes the loss of the auxiliary logits, times a
/// weight.
template <typename Loss>
Case auxiliary_case(const std::string& name, Loss loss, std::int64_t K, std::int64_t columns) {
  CaseBuilder builder(name);
  const NodeId logits = logits_of(builder, K);
  const NodeId early = builder.add("early", graph::Flatten{}, {builder.upstream({kBatch, 16, 2, 3}, "early_up")});
  const NodeId auxiliary = builder.add("auxiliary", graph::Linear{.out_features = K}, {early});
  loss.auxiliary_weights = {0.3, 0.75};
  builder.value("labels", columns == 1 ? random_classes(K) : random_labels(kBatch * columns));
  builder.value("mask", random_mask(kBatch * columns));
  const std::vector<NodeId> heads{builder.add("aux1", graph::Auxiliary{}, {auxiliary}),
                                  builder.add("aux2", graph::Auxiliary{.weight = 0.75}, {auxiliary})};
  return std::move(builder).finish_with_loss(logits, loss, {kBatch, columns}, heads);
}

/// Returns the case with logits of a hundred and more, for which exp() overflows in float.
Case with_large_logits(Case made, std::int64_t K) {
  std::vector<float> bias(static_cast<std::size_t>(K));
  for (std::size_t k = 0; k < bias.size(); ++k) bias[k] = k % 2 == 0 ? 120.0F : -120.0F;
  made.values["logits.bias"] = std::move(bias);
  return made;
}
}  // namespace

std::vector<Case> cases_of(const graph::Auxiliary&) {
  const auto passed_through = [](const std::string& name, const Shape& image) {
    CaseBuilder builder(name);
    const NodeId rows = builder.add("rows", graph::Flatten{}, {builder.upstream(image)});
    return std::move(builder).finish(builder.add("op", graph::Auxiliary{}, {rows}));
  };
  return {
      passed_through("auxiliary.passed_through", {kBatch, 16, 2, 3}),
      passed_through("auxiliary.one_column", {kBatch, 1, 1, 1}),
      passed_through("auxiliary.one_image", {1, 20, 1, 3}),
  };
}

std::vector<Case> cases_of(const graph::SigmoidCrossEntropy&) {
  using Loss = graph::SigmoidCrossEntropy;
  const auto reduced = [](Reduction reduction) { return Loss{.reduction = static_cast<int>(reduction)}; };
  const std::vector<float> all_known(kBatch * 14, 1.0F);
  const std::vector<float> none_known(kBatch * 5, 0.0F);
  return {
      sigmoid_case("sigmoid_cross_entropy.all_known", Loss{}, 14, {.labels = {}, .mask = all_known}),
      sigmoid_case("sigmoid_cross_entropy.some_unknown", Loss{}, 14),
      sigmoid_case("sigmoid_cross_entropy.mean_batch", reduced(Reduction::MeanBatch), 5,
                   {.labels = {}, .mask = mask_without_first_image(5)}),
      sigmoid_case("sigmoid_cross_entropy.partial", Loss{.is_partial = true}, 14),
      sigmoid_case("sigmoid_cross_entropy.partial_mean_batch",
                   Loss{.reduction = static_cast<int>(Reduction::MeanBatch), .is_partial = true}, 5,
                   {.labels = {}, .mask = mask_without_first_image(5)}),
      sigmoid_case("sigmoid_cross_entropy.partial_nothing_known", Loss{.is_partial = true}, 5,
                   {.labels = {}, .mask = none_known}),
      sigmoid_case("sigmoid_cross_entropy.sum", reduced(Reduction::Sum), 5),
      sigmoid_case("sigmoid_cross_entropy.one_label", Loss{}, 1),
      sigmoid_case("sigmoid_cross_entropy.positive_weights", Loss{.positive_weights = {1.0, 3.0, 0.25, 10.0, 2.0}}, 5),
      sigmoid_case("sigmoid_cross_entropy.positive_weights_sum",
                   Loss{.reduction = static_cast<int>(Reduction::Sum), .positive_weights = {7.0, 0.5}}, 2),
      sigmoid_case("sigmoid_cross_entropy.unknown_labels_are_not_read", Loss{}, 5, unknown_as_nan(5)),
      sigmoid_case("sigmoid_cross_entropy.nothing_known", Loss{}, 5, {.labels = {}, .mask = none_known}),
      sigmoid_case("sigmoid_cross_entropy.nothing_known_mean_batch", reduced(Reduction::MeanBatch), 5,
                   {.labels = {}, .mask = none_known}),
      auxiliary_case("sigmoid_cross_entropy.auxiliary", Loss{.positive_weights = {1.0, 3.0, 0.25}}, 3, 3),
      with_large_logits(sigmoid_case("sigmoid_cross_entropy.large_logits", Loss{}, 6), 6),
  };
}

std::vector<Case> cases_of(const graph::SoftmaxCrossEntropy&) {
  using Loss = graph::SoftmaxCrossEntropy;
  const std::vector<float> two_known{1.0F, 0.0F, 0.0F, 1.0F};
  return {
      softmax_case("softmax_cross_entropy.plain", Loss{}, 10),
      softmax_case("softmax_cross_entropy.label_smoothing", Loss{.label_smoothing = 0.1}, 10),
      softmax_case("softmax_cross_entropy.some_unknown", Loss{.label_smoothing = 0.2}, 5, two_known),
      softmax_case("softmax_cross_entropy.mean_batch", Loss{.reduction = static_cast<int>(Reduction::MeanBatch)}, 3,
                   two_known),
      softmax_case("softmax_cross_entropy.partial", Loss{.is_partial = true, .label_smoothing = 0.1}, 5, two_known),
      softmax_case("softmax_cross_entropy.sum", Loss{.reduction = static_cast<int>(Reduction::Sum)}, 3),
      softmax_case("softmax_cross_entropy.two_classes", Loss{}, 2),
      softmax_case("softmax_cross_entropy.nothing_known", Loss{}, 3, {0.0F, 0.0F, 0.0F, 0.0F}),
      auxiliary_case("softmax_cross_entropy.auxiliary", Loss{.label_smoothing = 0.1}, 5, 1),
      with_large_logits(softmax_case("softmax_cross_entropy.large_logits", Loss{}, 6), 6),
  };
}

}  // namespace roentgen::engine::conformance
