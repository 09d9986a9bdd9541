// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adam (Kingma & Ba 2015) as torch.optim.Adam, and AdamW (Loshchilov & Hutter 2019) as torch.optim.AdamW:
//   g = gradient_scale * gradient (+ weight_decay * p, adam);  p *= 1 - lr * weight_decay (adamw)
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
#include <cmath>

#include "train/optimizer/flat.h"
#include "train/optimizer/optimizer_list.h"

namespace roentgen::train {
namespace {

/// Where weight decay enters.
enum class Decay : std::uint8_t { InGradient, Decoupled };

template <Decay kDecay>
class Adam final : public Optimizer {
 public:
  Adam(const OptimizerOptions& options, std::int64_t elements)
      : options_(options), mean_(static_cast<std::size_t>(elements)), square_(static_cast<std::size_t>(elements)) {}

  [[nodiscard]] std::string_view name() const override { return kDecay == Decay::Decoupled ? "adamw" : "adam"; }

  void apply(const Update& update) override {
    const auto time = static_cast<double>(update.step);
    const double correction1 = 1.0 - std::pow(options_.beta1, time);
    const double correction2 = 1.0 - std::pow(options_.beta2, time);
    const auto step_size = static_cast<float>(update.lr / correction1);
    const auto inverse_root = static_cast<float>(1.0 / std::sqrt(correction2));
    for (const UpdateRange& range : update.ranges) pass(update, range, step_size, inverse_root);
  }

  [[nodiscard]] std::vector<OptimizerState> state() override {
    return {{.name = "exp_avg", .arena = mean_}, {.name = "exp_avg_sq", .arena = square_}};
  }

 private:
  void pass(const Update& update, const UpdateRange& range, float step_size, float inverse_root) {
    float* const p = update.parameters.data() + range.begin;
    float* const m = mean_.data() + range.begin;
    float* const v = square_.data() + range.begin;
    const float* const g = update.gradients.data() + range.begin;
    const auto scale = static_cast<float>(update.gradient_scale);
    const auto decay = static_cast<float>(range.weight_decay);
    const auto keep = static_cast<float>(1.0 - update.lr * range.weight_decay);
    const auto beta1 = static_cast<float>(options_.beta1);
    const auto beta2 = static_cast<float>(options_.beta2);
    const auto rest1 = static_cast<float>(1.0 - options_.beta1);
    const auto rest2 = static_cast<float>(1.0 - options_.beta2);
    const auto epsilon = static_cast<float>(options_.epsilon);
    for_chunks(range.count, options_.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) {
        const float old = kDecay == Decay::Decoupled ? p[i] * keep : p[i];
        const float gradient = kDecay == Decay::InGradient ? scale * g[i] + decay * old : scale * g[i];
        const float mean = beta1 * m[i] + rest1 * gradient;
        const float square = beta2 * v[i] + rest2 * gradient * gradient;
        m[i] = mean;
        v[i] = square;
        p[i] = old - step_size * (mean / (std::sqrt(square) * inverse_root + epsilon));
      }
    });
  }

  OptimizerOptions options_;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adam(const OptimizerOptions& options, std::int64_t elements) {
  return std::make_unique<Adam<Decay::InGradient>>(options, elements);
}

std::unique_ptr<Optimizer> make_adamw(const OptimizerOptions& options, std::int64_t elements) {
  return std::make_unique<Adam<Decay::Decoupled>>(options, elements);
}

}  // namespace roentgen::train
