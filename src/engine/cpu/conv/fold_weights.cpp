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
std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
}  // namespace

std::unique_ptr<Kernel> fold_weights_kernel(WeightFolding work) {
  return make_kernel([work = std::move(work)](const Addresses& at) {
    const auto vector = [&](TensorId id) { return std::span(at.f32(id), size(work.channels)); };
    const auto weights = [&](TensorId id) { return std::span(at.f32(id), size(work.layout->elements())); };
    return [&work, from = weights(work.weights), to = weights(work.folded_weights), scale = vector(work.scale),
            shift = vector(work.shift), mean = vector(work.mean), variance = vector(work.variance),
            bias = work.bias >= 0 ? vector(work.bias) : std::span<float>(), folded_bias = vector(work.folded_bias)] {
      const std::size_t each = size(work.weights_per_channel);
      std::vector<float> plain(size(work.channels) * each);
      work.layout->to_plain(from, plain);
      for (std::size_t c = 0; c < size(work.channels); ++c) {
        const double factor = scale[c] / std::sqrt(static_cast<double>(variance[c]) + work.epsilon);
        const double added = bias.empty() ? 0.0 : static_cast<double>(bias[c]);
        folded_bias[c] = static_cast<float>(shift[c] + factor * (added - mean[c]));
        for (float& weight : std::span(plain).subspan(c * each, each)) weight = static_cast<float>(factor * weight);
      }
      work.layout->to_kernel(plain, to);
    };
  });
}

}  // namespace roentgen::engine::cpu
