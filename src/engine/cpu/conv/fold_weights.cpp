// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/fold_weights.h"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace roentgen::engine::cpu {
namespace {
class FoldWeights final : public Kernel {
 public:
  explicit FoldWeights(WeightFolding work) : work_(std::move(work)) {}
  void bind(const Addresses& addresses) override {
    const auto vector = [&](TensorId id) { return std::span(addresses.f32(id), count(work_.channels)); };
    const auto weights = [&](TensorId id) { return std::span(addresses.f32(id), count(work_.layout->elements())); };
    weights_ = weights(work_.weights);
    folded_weights_ = weights(work_.folded_weights);
    scale_ = vector(work_.scale);
    shift_ = vector(work_.shift);
    mean_ = vector(work_.mean);
    variance_ = vector(work_.variance);
    folded_bias_ = vector(work_.folded_bias);
    if (work_.bias >= 0) bias_ = vector(work_.bias);
  }
  void run() override {
    const std::size_t each = count(work_.weights_per_channel);
    std::vector<float> plain(count(work_.channels) * each);
    work_.layout->to_plain(weights_, plain);
    for (std::size_t c = 0; c < count(work_.channels); ++c) {
      const double factor = scale_[c] / std::sqrt(static_cast<double>(variance_[c]) + work_.epsilon);
      const double bias = bias_.empty() ? 0.0 : static_cast<double>(bias_[c]);
      folded_bias_[c] = static_cast<float>(shift_[c] + factor * (bias - mean_[c]));
      for (float& weight : std::span(plain).subspan(c * each, each)) weight = static_cast<float>(factor * weight);
    }
    work_.layout->to_kernel(plain, folded_weights_);
  }

 private:
  static std::size_t count(std::int64_t value) { return static_cast<std::size_t>(value); }

  WeightFolding work_;
  std::span<const float> weights_;
  std::span<const float> bias_;
  std::span<const float> scale_;
  std::span<const float> shift_;
  std::span<const float> mean_;
  std::span<const float> variance_;
  std::span<float> folded_weights_;
  std::span<float> folded_bias_;
};
}  // namespace

std::unique_ptr<Kernel> fold_weights_kernel(WeightFolding work) {
  return std::make_unique<FoldWeights>(std::move(work));
}

}  // namespace roentgen::engine::cpu
