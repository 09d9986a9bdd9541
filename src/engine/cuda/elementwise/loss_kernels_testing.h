// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of loss_kernels.h against their formulas in double, on any device.
#pragma once

#include <cmath>

#include "engine/cuda/elementwise/loss_kernels.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {
namespace loss_testing {

/// Labels on the host: about one of five is unknown, with a label that must not be read.
struct Labels {
  std::vector<float> labels, mask;
};
inline Labels labels_of(std::int64_t count, std::int64_t classes) {
  Labels result;
  Random random(16, RandomStage::Test);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_known = !random.chance(0.2);
    const auto label = static_cast<float>(random.below(static_cast<std::uint64_t>(classes)));
    result.labels.push_back(is_known ? label : -1.0F);
    result.mask.push_back(is_known ? 1.0F : 0.0F);
  }
  return result;
}

/// Loss of one label or image, and its derivative by each of its logits.
struct Term {
  double value = 0.0;
  std::vector<double> slopes;
};
inline Term sigmoid_term(double z, double label, double weight) {
  const double s = 1.0 / (1.0 + std::exp(-z));
  return {-weight * label * std::log(s) - (1.0 - label) * std::log(1.0 - s),
          {(1.0 - label) * s - weight * label * (1.0 - s)}};
}
inline Term softmax_term(std::span<const float> z, std::size_t label, double smoothing) {
  Term term;
  double total = 0.0;
  for (const float one : z) total += std::exp(double{one});
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double share = std::exp(double{z[k]}) / total;
    const double target = smoothing / static_cast<double>(z.size()) + (k == label ? 1.0 - smoothing : 0.0);
    term.value -= target * std::log(share);
    term.slopes.push_back(share - target);
  }
  return term;
}

/// Number by which the sum of all terms is divided.
inline double divisor(const LossTerms& terms, const std::vector<float>& mask, std::size_t columns) {
  if (terms.reduction == graph::Reduction::Sum) return 1.0;
  const bool is_by_image = terms.reduction == graph::Reduction::MeanBatch;
  if (terms.is_partial) return static_cast<double>(is_by_image ? mask.size() / columns : mask.size());
  double labels = 0.0, images = 0.0;
  for (std::size_t n = 0; n < mask.size(); n += columns) {
    double row = 0.0;
    for (std::size_t k = 0; k < columns; ++k) row += mask[n + k];
    labels += row, images += row > 0.0 ? 1.0 : 0.0;
  }
  return std::max(is_by_image ? images : labels, 1.0);
}

inline void check_loss(runtime::Device& device, LossTerms terms, Worst& worst) {
  constexpr double kHeadWeights[] = {1.0, 0.3}, kLossScale = 1024.0;
  const auto stream = device.make_stream();
  const auto images = static_cast<std::size_t>(terms.N), classes = static_cast<std::size_t>(terms.K);
  const std::size_t columns = terms.is_softmax ? 1 : classes, width = terms.is_softmax ? classes : 1;
  const Labels host = labels_of(terms.N * static_cast<std::int64_t>(columns), terms.is_softmax ? terms.K : 2);
  const DeviceArray<float> labels(device, *stream, host.labels), mask(device, *stream, host.mask);
  std::vector<double> weights(classes);
  for (std::size_t k = 0; k < classes; ++k) weights[k] = 0.5 + static_cast<double>(k);
  const DeviceArray<double> on_weights(device, *stream, weights);
  const bool is_weighted = terms.positive_weights != nullptr;
  terms.labels = labels.get(), terms.mask = mask.get();
  if (is_weighted) terms.positive_weights = on_weights.get();
  std::vector<std::vector<float>> logits;
  std::vector<DeviceArray<float>> on_logits;
  LossHeads heads;
  for (const double weight : kHeadWeights) {
    logits.push_back(random_values(DType::F32, images * classes, 17 + static_cast<std::uint32_t>(heads.count), 0, 2));
    on_logits.emplace_back(device, *stream, logits.back());
    heads.at[heads.count++] = {on_logits.back().get(), weight};
  }
  const DeviceArray<float> on_loss(device, *stream, std::size_t{1});
  const DeviceArray<double> scale(device, *stream, std::size_t{1});
  const DeviceArray<StepState> state(device, *stream, std::vector{StepState{.loss_scale = kLossScale}});
  loss(*stream, terms, heads, on_loss.get(), scale.get());
  const double over = 1.0 / divisor(terms, host.mask, columns);
  double wanted = 0.0;
  for (int head = 0; head < heads.count; ++head) {
    const DeviceArray<float> gradient(device, *stream, images * classes);
    loss_gradient(*stream, terms, heads.at[head], scale.get(), state.get(), gradient.get());
    const std::vector<float> got = gradient.read();
    const std::vector<float>& z = logits[static_cast<std::size_t>(head)];
    const double weight = heads.at[head].weight;
    for (std::size_t i = 0; i < host.labels.size(); ++i) {
      const bool is_known = host.mask[i] > 0.0F;
      Term term{.slopes = std::vector<double>(width)};
      if (is_known && terms.is_softmax) {
        term = softmax_term(std::span(z).subspan(i * width, width), static_cast<std::size_t>(host.labels[i]),
                            terms.label_smoothing);
      } else if (is_known) {
        term = sigmoid_term(z[i], host.labels[i], is_weighted ? weights[i % classes] : 1.0);
      }
      wanted += weight * over * term.value;
      for (std::size_t k = 0; k < width; ++k) {
        const double slope = term.slopes[k] * over * weight * kLossScale;
        // Both compute in double, then round to float32.
        worst.add("gradient of a loss", i * width + k, got[i * width + k], slope, 0x1p-23 * std::abs(slope) + 1e-12);
      }
    }
  }
  worst.add("loss", 0, on_loss.read()[0], wanted, 0x1p-23 * std::abs(wanted));
}

}  // namespace loss_testing

/// Checks both losses with every reduction, two heads, unknown labels, weights of classes and label smoothing.
[[nodiscard]] inline Worst check_losses(runtime::Device& device, bool is_partial) {
  Worst worst;
  constexpr double kWeighted = 1.0;  // its address alone asks for weights
  using graph::Reduction;
  for (const Reduction reduction : {Reduction::MeanKnown, Reduction::MeanBatch, Reduction::Sum}) {
    const LossTerms plain{.N = 40, .K = 14, .reduction = reduction, .is_partial = is_partial};
    loss_testing::check_loss(device, plain, worst);
    LossTerms weighted = plain;
    weighted.N = 3, weighted.K = 5, weighted.positive_weights = &kWeighted;
    loss_testing::check_loss(device, weighted, worst);
    LossTerms softmax = plain;
    softmax.N = 300, softmax.K = 3, softmax.is_softmax = true, softmax.label_smoothing = 0.1;
    loss_testing::check_loss(device, softmax, worst);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
