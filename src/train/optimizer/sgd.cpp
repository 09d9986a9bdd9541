// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stochastic gradient descent with momentum, as torch.optim.SGD without dampening:
//   g = gradient_scale * gradient + weight_decay * p;  b = momentum * b + g;
//   p -= lr * (nesterov ? g + momentum * b : b)
// torch starts b with the first g; with b = 0 before it, that is the same.
#include "core/error.h"
#include "train/optimizer/flat.h"
#include "train/optimizer/optimizer_list.h"

namespace roentgen::train {
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerOptions& options, std::int64_t elements) : options_(options) {
    if (options.is_nesterov && options.momentum == 0.0) {
      throw ConfigError(error_text("train.optimizer", "nesterov", "momentum above 0 with it", "momentum = 0",
                                   "--set optimizer.momentum=0.9, or optimizer.nesterov=false"));
    }
    if (options.momentum > 0.0) buffer_.resize(static_cast<std::size_t>(elements));
  }

  [[nodiscard]] std::string_view name() const override { return "sgd"; }

  void apply(const Update& update) override {
    for (const UpdateRange& range : update.ranges) {
      if (buffer_.empty()) {
        plain(update, range);
      } else if (options_.is_nesterov) {
        with_momentum<true>(update, range);
      } else {
        with_momentum<false>(update, range);
      }
    }
  }

  [[nodiscard]] std::vector<OptimizerState> state() override {
    if (buffer_.empty()) return {};
    return {{.name = "momentum_buffer", .arena = buffer_}};
  }

 private:
  void plain(const Update& update, const UpdateRange& range) const {
    float* const p = update.parameters.data() + range.begin;
    const float* const g = update.gradients.data() + range.begin;
    const auto scale = static_cast<float>(update.gradient_scale);
    const auto decay = static_cast<float>(range.weight_decay);
    const auto lr = static_cast<float>(update.lr);
    for_chunks(range.count, options_.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) p[i] -= lr * (scale * g[i] + decay * p[i]);
    });
  }

  template <bool is_nesterov>
  void with_momentum(const Update& update, const UpdateRange& range) {
    float* const p = update.parameters.data() + range.begin;
    float* const b = buffer_.data() + range.begin;
    const float* const g = update.gradients.data() + range.begin;
    const auto scale = static_cast<float>(update.gradient_scale);
    const auto decay = static_cast<float>(range.weight_decay);
    const auto lr = static_cast<float>(update.lr);
    const auto momentum = static_cast<float>(options_.momentum);
    for_chunks(range.count, options_.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) {
        const float gradient = scale * g[i] + decay * p[i];
        const float buffer = momentum * b[i] + gradient;
        b[i] = buffer;
        p[i] -= lr * (is_nesterov ? gradient + momentum * buffer : buffer);
      }
    });
  }

  OptimizerOptions options_;
  std::vector<float> buffer_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const OptimizerOptions& options, std::int64_t elements) {
  return std::make_unique<Sgd>(options, elements);
}

}  // namespace roentgen::train
