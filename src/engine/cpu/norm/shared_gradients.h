// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Gradients of pieces of a virtual concatenation, from batch norms that share the pieces' statistics (DenseNet). A norm
// contributes scale * istd * (g - mean(g) - xhat * mean(g * xhat)) to a piece's gradient, where g is the masked
// gradient of the result. The first term is added to G pixel by pixel as g arrives. The other two are accumulated over
// all readers in the sums A and B, which finish_kernel() applies. So g itself is needed only once.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "engine/cpu/norm/batch_norm_blocks.h"
#include "engine/cpu/simd/batch_norm.h"

namespace roentgen::engine::cpu {

/// Pixels [first, first + count) of a block of an image, and the slot for their sums.
struct NormPixels {
  std::int64_t block = 0;
  std::int64_t image = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t slot = 0;
};

/// Address of a tensor that is read, and of one that is read and written; null if absent.
template <class T>
struct NormTouches {
  const T* read = nullptr;
  const T* written = nullptr;
};

/// Gradients of one batch norm, used by its own kernel or by the data gradient that computes dy. X is the type of
/// stored values and gradients. After bind(), call open() for every block (or clear() for its slots), add() for every
/// pixel, then close(). Threads may divide blocks and pixels; threads that divide pixels need a slot each.
template <class X>
class SharedGradients {
 public:
  /// @param slots number of slots of `work.partial`
  SharedGradients(const NormShape& shape, NormBackward work, std::int64_t slots)
      : shape_(shape), work_(std::move(work)), slots_(slots), table_(shape, work_.pieces) {}

  void bind(const Addresses& addresses) {
    table_.bind(addresses);
    weight_ = addresses.f32(work_.parameters.scale);
    bias_ = addresses.f32(work_.parameters.shift);
    y_again_ = work_.y_again >= 0 ? addresses.at<X>(work_.y_again) : nullptr;
    diff_scale_ = addresses.f32(work_.diff_scale);
    diff_shift_ = addresses.f32(work_.diff_shift);
    constants_ = addresses.f32(work_.constants);
    partial_ = {addresses.f64(work_.partial), slots_, shape_.block};
  }

  /// Computes the constants, unless `work.constants` holds those of the forward.
  void fold_constants() const {
    for (std::int64_t block = 0; block < shape_.blocks; ++block) {
      const std::int64_t c = block * shape_.block;
      fold(shape_.block, weight_ + c, bias_ + c, table_[block].statistics, scale_of(block), shift_of(block));
    }
  }
  void open(std::int64_t block) const {
    for (std::int64_t slot = 0; slot < slots_; ++slot) clear(block, slot);
  }
  /// Clears one slot of a block, before the first add() to it.
  void clear(std::int64_t block, std::int64_t slot) const { partial_.clear(block, slot); }
  /// Adds pixels. `dy` has only these pixels, [count][block].
  void add(const NormPixels& pixels, const X* dy) const {
    const BlockPlace<X>& place = table_[pixels.block];
    const std::int64_t at = pixels.image * place.image_stride + pixels.first * shape_.block;
    simd::GradientSums<X> work{.x = place.value + at,
                               .dy = dy,
                               .scale = scale_of(pixels.block),
                               .shift = shift_of(pixels.block),
                               .mean = place.statistics.mean,
                               .sum = partial_.first(pixels.block, pixels.slot),
                               .sum_x = partial_.second(pixels.block, pixels.slot),
                               .pixels = pixels.count,
                               .block = shape_.block,
                               .mask = work_.relu ? simd::Mask::FromX : simd::Mask::None};
    if (place.gradient != nullptr) {
      work.g = place.gradient + at;
      work.factor = weight_ + pixels.block * shape_.block;
      work.is_accumulating = !place.is_first;
    }
    if (y_again_ != nullptr) {
      work.y_again = y_again_ + offset_of(shape_, pixels.block, pixels.image) + pixels.first * shape_.block;
      work.stream = shape_.is_streamed;
    }
    simd::gradient_sums(work);
  }
  /// Addresses that add() reads (apart from dy) and writes for these pixels, for prefetching.
  [[nodiscard]] NormTouches<X> touches(const NormPixels& pixels) const {
    const BlockPlace<X>& place = table_[pixels.block];
    const std::int64_t at = pixels.image * place.image_stride + pixels.first * shape_.block;
    return {.read = place.value + at, .written = place.gradient == nullptr ? nullptr : place.gradient + at};
  }
  /// Computes the gradients of the parameters and, for pieces that need a gradient, A and B. Adds slots in order.
  void close(std::int64_t block) const {
    std::array<double, kMostBlock> sum{};
    std::array<double, kMostBlock> sum_x{};
    partial_.add_up(block, sum.data(), sum_x.data());
    const double count = static_cast<double>(shape_.images * shape_.pixels);
    const BlockPlace<X>& place = table_[block];
    for (int i = 0; i < shape_.block; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const std::int64_t channel = block * shape_.block + i;
      const double scale = weight_[channel];
      const double diff_scale = sum_x[c] * static_cast<double>(place.statistics.istd[i]);
      diff_shift_[channel] = static_cast<float>(sum[c]);
      diff_scale_[channel] = static_cast<float>(diff_scale);
      if (place.gradient == nullptr) continue;
      const auto a = static_cast<float>(scale * sum[c] / count);
      const auto b = static_cast<float>(scale * diff_scale / count);
      place.sum_a[i] = place.is_first ? a : place.sum_a[i] + a;
      place.sum_b[i] = place.is_first ? b : place.sum_b[i] + b;
    }
  }

 private:
  [[nodiscard]] float* scale_of(std::int64_t block) const { return constants_ + block * shape_.block; }
  [[nodiscard]] float* shift_of(std::int64_t block) const {
    return constants_ + (shape_.blocks + block) * shape_.block;
  }

  NormShape shape_;
  NormBackward work_;
  std::int64_t slots_;
  BlockTable<X> table_;
  const float* weight_ = nullptr;
  const float* bias_ = nullptr;
  X* y_again_ = nullptr;
  float* diff_scale_ = nullptr;
  float* diff_shift_ = nullptr;
  float* constants_ = nullptr;
  Partial partial_;
};

}  // namespace roentgen::engine::cpu
