// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layer-wise adaptive rates for large batches (You, Gitman, Ginsburg 2017, arXiv:1708.03888): sgd with momentum whose
// rate, for each layer's weights, is scaled by trust * |w| / (|g| + decay * |w|). As in sgd here, and in torch, the
// learning rate stands outside the velocity, so that one which changes needs no correction of the momentum (Goyal et
// al. 2017, arXiv:1706.02677, remark 2).
#include <cmath>

#include "core/error.h"
#include "train/optimizer/flat.h"
#include "train/optimizer/optimizer_list.h"

namespace roentgen::train {
namespace {

class Lars final : public Optimizer {
 public:
  Lars(const OptimizerOptions& options, std::int64_t elements) : options_(options) {
    if (options.is_nesterov) {
      throw ConfigError(error_text("train.optimizer", "nesterov", "sgd with it", "lars",
                                   "--set optimizer.nesterov=false, or optimizer.name=sgd"));
    }
    buffer_.resize(static_cast<std::size_t>(elements));
  }

  [[nodiscard]] std::string_view name() const override { return "lars"; }
  [[nodiscard]] bool is_layerwise() const override { return true; }

  void apply(const Update& update) override {
    for (const UpdateRange& range : update.ranges) {
      apply(update, range, range.is_layer ? adaptation(update, range) : 1.0);
    }
  }

  [[nodiscard]] std::vector<OptimizerState> state() override { return {{.name = "momentum_buffer", .arena = buffer_}}; }

 private:
  // 1 where it is not defined: weights or gradients that are all zero.
  [[nodiscard]] double adaptation(const Update& update, const UpdateRange& range) const {
    const auto begin = static_cast<std::size_t>(range.begin);
    const auto count = static_cast<std::size_t>(range.count);
    const double weights = std::sqrt(sum_of_squares(update.parameters.subspan(begin, count), options_.threads));
    const double gradients =
        update.gradient_scale * std::sqrt(sum_of_squares(update.gradients.subspan(begin, count), options_.threads));
    if (!(weights > 0.0) || !(gradients > 0.0)) return 1.0;
    return options_.trust * weights / (gradients + range.weight_decay * weights);
  }

  void apply(const Update& update, const UpdateRange& range, double adapted) {
    float* const p = update.parameters.data() + range.begin;
    float* const b = buffer_.data() + range.begin;
    const float* const g = update.gradients.data() + range.begin;
    const auto scale = static_cast<float>(update.gradient_scale * adapted);
    const auto decay = static_cast<float>(range.weight_decay * adapted);
    const auto lr = static_cast<float>(update.lr);
    const auto momentum = static_cast<float>(options_.momentum);
    for_chunks(range.count, options_.threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) {
        const float buffer = momentum * b[i] + (scale * g[i] + decay * p[i]);
        b[i] = buffer;
        p[i] -= lr * buffer;
      }
    });
  }

  OptimizerOptions options_;
  std::vector<float> buffer_;
};

}  // namespace

std::unique_ptr<Optimizer> make_lars(const OptimizerOptions& options, std::int64_t elements) {
  return std::make_unique<Lars>(options, elements);
}

}  // namespace roentgen::train
