// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What a batch norm's backward does with the gradient of its result as it comes, a few pixels at a time: from its own
// kernel, or from the data gradient that computes it.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/cpu/norm/batch_norm_blocks.h"
#include "engine/cpu/simd/batch_norm.h"

namespace roentgen::engine::cpu {

/// Pixels [first, first + count) of a block of an image, and the slot their sums go to.
struct NormPixels {
  std::int64_t block = 0;
  std::int64_t image = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t slot = 0;
};

/// Tensors that are read, or null, and one that is written, read before or not, or null. Of long runs of pixels, what
/// is written is better not named: it would be claimed into the first-level cache.
template <class T>
struct NormTouches {
  std::array<const T*, 4> read{};
  const T* written = nullptr;
};

/// Of one batch norm. T: what gradients are stored in. After bind(), open() for every block (or what it consists of),
/// add() for every pixel of a block, then close(): blocks and pixels may be shared out to threads, pixels with a slot
/// for each.
template <class T>
class NormGradients {
 public:
  NormGradients() = default;
  virtual ~NormGradients() = default;
  NormGradients(const NormGradients&) = delete;
  NormGradients& operator=(const NormGradients&) = delete;

  virtual void bind(const Addresses& addresses) = 0;
  virtual void open(std::int64_t block) const = 0;
  /// `dy`: of these pixels alone, [count][block].
  virtual void add(const NormPixels& pixels, const T* dy) const = 0;
  /// What add() of these pixels reads beside dy, and what it writes: where it lies, from the first pixel on. For who
  /// fetches it ahead.
  [[nodiscard]] virtual NormTouches<T> touches(const NormPixels& pixels) const = 0;
  /// Slots are added up in order.
  virtual void close(std::int64_t block) const = 0;
};

/// Of a batch norm of one value. The masked gradient g is stored where `work.g` says so. X: what the value is stored
/// in.
template <class X, class Y = X>
class SingleGradients final : public NormGradients<Y> {
 public:
  /// What `work.constants` holds, an array for each.
  enum Constant : std::uint8_t { kScale, kShift, kByG, kByX, kConstant };

  /// `slots`: as many as `work.partial` has sums for.
  SingleGradients(const NormShape& shape, NormBackward work, std::int64_t slots)
      : shape_(shape), work_(std::move(work)), slots_(slots), table_(shape, work_.pieces) {}

  void bind(const Addresses& addresses) override {
    const auto get = [&](TensorId id) { return id >= 0 ? addresses.f32(id) : nullptr; };
    const auto result = [&](TensorId id) { return id >= 0 ? addresses.at<Y>(id) : nullptr; };
    table_.bind(addresses);
    weight_ = get(work_.parameters.scale);
    bias_ = get(work_.parameters.shift);
    dy2_ = result(work_.dy2);
    y_ = result(work_.y);
    residual_ = result(work_.residual);
    g_ = result(work_.g);
    // Without a residual it is for a second phase, which does not read one.
    y_again_ = residual_ != nullptr ? result(work_.y_again) : nullptr;
    diff_scale_ = get(work_.diff_scale);
    diff_shift_ = get(work_.diff_shift);
    constants_ = get(work_.constants);
    partial_ = {addresses.f64(work_.partial), slots_, shape_.block, partial_.totals};
  }
  /// Totals of all ranks, before bind().
  void use_totals(const double* totals) { partial_.totals = totals; }

  void open(std::int64_t block) const override {
    fold_constants(block);
    for (std::int64_t slot = 0; slot < slots_; ++slot) clear(block, slot);
  }
  /// The two halves of open(), for who clears a slot where it is used.
  void fold_constants(std::int64_t block) const {
    fold(shape_.block, weight_ + block * shape_.block, bias_ + block * shape_.block, table_[block].statistics,
         constant(kScale, block), constant(kShift, block));
  }
  void clear(std::int64_t block, std::int64_t slot) const { partial_.clear(block, slot); }
  void add(const NormPixels& pixels, const Y* dy) const override {
    const BlockPlace<X>& place = table_[pixels.block];
    const std::int64_t at = offset_of(shape_, pixels.block, pixels.image) + pixels.first * shape_.block;
    const auto behind = [at](auto* base) { return base == nullptr ? nullptr : base + at; };
    simd::gradient_sums(
        simd::GradientSums<X, Y>{.x = place.value + pixels.image * place.image_stride + pixels.first * shape_.block,
                                 .y = behind(y_),
                                 .residual = behind(residual_),
                                 .dy = dy,
                                 .dy2 = behind(dy2_),
                                 .g = behind(g_),
                                 .y_again = behind(y_again_),
                                 .scale = constant(kScale, pixels.block),
                                 .shift = constant(kShift, pixels.block),
                                 .mean = place.statistics.mean,
                                 .sum = partial_.first(pixels.block, pixels.slot),
                                 .sum_x = partial_.second(pixels.block, pixels.slot),
                                 .pixels = pixels.count,
                                 .block = shape_.block,
                                 .mask = mask()});
  }
  [[nodiscard]] NormTouches<Y> touches(const NormPixels& pixels) const override {
    const BlockPlace<X>& place = table_[pixels.block];
    const std::int64_t at = offset_of(shape_, pixels.block, pixels.image) + pixels.first * shape_.block;
    const auto behind = [at](const Y* base) { return base == nullptr ? nullptr : base + at; };
    NormTouches<Y> touches{.read = {behind(dy2_), behind(y_), behind(residual_)}};
    if constexpr (std::is_same_v<X, Y>) {
      touches.read[3] = place.value + pixels.image * place.image_stride + pixels.first * shape_.block;
    }
    return touches;
  }
  /// Gradients of the parameters, and constants of dx = a g - a/M sum(g) - a istd^2/M sum(g (x - mean)) (x - mean),
  /// a = scale istd.
  void close(std::int64_t block) const override {
    std::array<double, kMostBlock> sum{};
    std::array<double, kMostBlock> sum_x{};
    // Gradients of parameters are a rank's own, as all others are: their mean over ranks is made of all buckets.
    partial_.add_up_own(block, sum.data(), sum_x.data());
    for (int i = 0; i < shape_.block; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const std::int64_t channel = block * shape_.block + i;
      diff_shift_[channel] = static_cast<float>(sum[c]);
      diff_scale_[channel] = static_cast<float>(sum_x[c] * static_cast<double>(table_[block].statistics.istd[i]));
    }
    partial_.add_up(block, sum.data(), sum_x.data());
    const double count = shape_.count();
    const BlockStatistics& from = table_[block].statistics;
    for (int i = 0; i < shape_.block; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const std::int64_t channel = block * shape_.block + i;
      const double istd = from.istd[i];
      const double a = static_cast<double>(weight_[channel]) * istd;
      const double by_x = -a * istd * istd * sum_x[c] / count;
      constant(kByG, block)[i] = static_cast<float>(a);
      constant(kByX, block)[i] = static_cast<float>(by_x);
      constant(kConstant, block)[i] =
          static_cast<float>(-a * sum[c] / count - by_x * static_cast<double>(from.mean[i]));
    }
  }

  /// Of a block.
  [[nodiscard]] float* constant(Constant which, std::int64_t block) const {
    return constants_ + (which * shape_.blocks + block) * shape_.block;
  }
  [[nodiscard]] const BlockPlace<X>& place(std::int64_t block) const { return table_[block]; }
  [[nodiscard]] const Partial& partial() const { return partial_; }
  [[nodiscard]] simd::Mask mask() const {
    if (!work_.relu) return simd::Mask::None;
    return y_ != nullptr ? simd::Mask::FromY : simd::Mask::FromX;
  }

 private:
  NormShape shape_;
  NormBackward work_;
  std::int64_t slots_;
  BlockTable<X> table_;
  const float* weight_ = nullptr;
  const float* bias_ = nullptr;
  const Y* dy2_ = nullptr;
  const Y* y_ = nullptr;
  const Y* residual_ = nullptr;
  Y* g_ = nullptr;
  Y* y_again_ = nullptr;
  float* diff_scale_ = nullptr;
  float* diff_shift_ = nullptr;
  float* constants_ = nullptr;
  Partial partial_;
};

}  // namespace roentgen::engine::cpu
