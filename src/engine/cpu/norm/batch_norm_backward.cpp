// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Backward kernels of batch norm.
#include <array>
#include <cstdint>
#include <utility>

#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/norm/batch_norm_blocks.h"
#include "engine/cpu/norm/shared_gradients.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/batch_norm.h"

namespace roentgen::engine::cpu {
namespace {
// Backward of a batch norm of one value. `work.g` receives the masked gradient. X is the type of the stored value, Y
// the type of the result and its gradient.
template <class X, class Y>
class SingleBackward final : public Kernel {
 public:
  SingleBackward(const NormShape& shape, NormBackward work)
      : shape_(shape), work_(std::move(work)), over_ranks_(shape), table_(shape, work_.pieces) {}
  void bind(const Addresses& addresses) override {
    const auto get = [&](TensorId id) { return id >= 0 ? addresses.f32(id) : nullptr; };
    const auto result = [&](TensorId id) { return id >= 0 ? addresses.at<Y>(id) : nullptr; };
    table_.bind(addresses);
    weight_ = get(work_.parameters.scale);
    bias_ = get(work_.parameters.shift);
    dy_ = result(work_.dy);
    dy2_ = result(work_.dy2);
    y_ = result(work_.y);
    residual_ = result(work_.residual);
    g_ = result(work_.g);
    y_again_ = result(work_.y_again);
    dx_ = addresses.at<X>(work_.dx);
    diff_scale_ = get(work_.diff_scale);
    diff_shift_ = get(work_.diff_shift);
    constants_ = get(work_.constants);
    partial_ = {addresses.f64(work_.partial), shape_.images, shape_.block, over_ranks_.totals()};
  }

  void run() override {
    for (std::int64_t block = 0; block < shape_.blocks; ++block) {
      fold(shape_.block, weight_ + block * shape_.block, bias_ + block * shape_.block, table_[block].statistics,
           constant(kScale, block), constant(kShift, block));
    }
    over_ranks_.run(
        partial_, [this](std::int64_t block, std::int64_t image) { add(block, image); },
        [this](std::int64_t block) { close(block); },
        [this](std::int64_t block, std::int64_t image) { apply(block, image); });
  }

 private:
  // Indices of arrays in `work.constants`.
  enum Constant : std::uint8_t { kScale, kShift, kByG, kByX, kConstant };
  [[nodiscard]] float* constant(Constant which, std::int64_t block) const {
    return constants_ + (which * shape_.blocks + block) * shape_.block;
  }
  [[nodiscard]] simd::Mask mask() const {
    if (!work_.relu) return simd::Mask::None;
    return y_ != nullptr ? simd::Mask::FromY : simd::Mask::FromX;
  }

  void add(std::int64_t block, std::int64_t image) const {
    partial_.clear(block, image);
    const BlockPlace<X>& place = table_[block];
    const std::int64_t at = offset_of(shape_, block, image);
    const auto behind = [at](auto* base) { return base == nullptr ? nullptr : base + at; };
    simd::gradient_sums(simd::GradientSums<X, Y>{.x = place.value + image * place.image_stride,
                                                 .y = behind(y_),
                                                 .residual = behind(residual_),
                                                 .dy = dy_ + at,
                                                 .dy2 = behind(dy2_),
                                                 .g = behind(g_),
                                                 // Without a residual, the second phase writes y_again.
                                                 .y_again = residual_ == nullptr ? nullptr : behind(y_again_),
                                                 .scale = constant(kScale, block),
                                                 .shift = constant(kShift, block),
                                                 .mean = place.statistics.mean,
                                                 .sum = partial_.first(block, image),
                                                 .sum_x = partial_.second(block, image),
                                                 .pixels = shape_.pixels,
                                                 .block = shape_.block,
                                                 .mask = mask()});
  }

  // Computes the parameters' gradients, and the constants of dx = a g - a/M sum(g) - a istd^2/M sum(g (x - mean)) (x -
  // mean) with a = scale istd.
  void close(std::int64_t block) const {
    std::array<double, kMostBlock> sum{};
    std::array<double, kMostBlock> sum_x{};
    // Gradients of the parameters cover only this rank, as all gradients do. The gradient exchange averages them over
    // ranks.
    partial_.add_up_own(block, sum.data(), sum_x.data());
    const BlockStatistics& from = table_[block].statistics;
    for (int i = 0; i < shape_.block; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const std::int64_t channel = block * shape_.block + i;
      diff_shift_[channel] = static_cast<float>(sum[c]);
      diff_scale_[channel] = static_cast<float>(sum_x[c] * static_cast<double>(from.istd[i]));
    }
    partial_.add_up(block, sum.data(), sum_x.data());
    const double count = shape_.count();
    for (int i = 0; i < shape_.block; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const double istd = from.istd[i];
      const double a = static_cast<double>(weight_[block * shape_.block + i]) * istd;
      const double by_x = -a * istd * istd * sum_x[c] / count;
      constant(kByG, block)[i] = static_cast<float>(a);
      constant(kByX, block)[i] = static_cast<float>(by_x);
      constant(kConstant, block)[i] =
          static_cast<float>(-a * sum[c] / count - by_x * static_cast<double>(from.mean[i]));
    }
  }

  void apply(std::int64_t block, std::int64_t image) const {
    const BlockPlace<X>& place = table_[block];
    const std::int64_t at = offset_of(shape_, block, image);
    simd::gradient_apply(
        simd::GradientApply<X, Y>{.x = place.value + image * place.image_stride,
                                  .g = g_ != nullptr ? g_ + at : dy_ + at,
                                  .dx = dx_ + at,
                                  .y_again = y_again_ == nullptr || residual_ != nullptr ? nullptr : y_again_ + at,
                                  .scale = constant(kScale, block),
                                  .shift = constant(kShift, block),
                                  .by_g = constant(kByG, block),
                                  .by_x = constant(kByX, block),
                                  .constant = constant(kConstant, block),
                                  .pixels = shape_.pixels,
                                  .block = shape_.block,
                                  .mask = g_ != nullptr ? simd::Mask::None : mask(),
                                  .relu = work_.relu});
  }

  NormShape shape_;
  NormBackward work_;
  OverRanks over_ranks_;
  BlockTable<X> table_;
  const float* weight_ = nullptr;
  const float* bias_ = nullptr;
  const Y* dy_ = nullptr;
  const Y* dy2_ = nullptr;
  const Y* y_ = nullptr;
  const Y* residual_ = nullptr;
  Y* g_ = nullptr;
  Y* y_again_ = nullptr;
  X* dx_ = nullptr;
  float* diff_scale_ = nullptr;
  float* diff_shift_ = nullptr;
  float* constants_ = nullptr;
  Partial partial_;
};

// Shared backward. The sum over all readers has the type of the value; the pass of each reader reads and writes it.
template <class X>
class SharedBackward final : public Kernel {
 public:
  SharedBackward(const NormShape& shape, const NormBackward& work)
      : shape_(shape), dy_id_(work.dy), gradients_(shape, work, shape.images) {}
  void bind(const Addresses& addresses) override {
    gradients_.bind(addresses);
    dy_ = addresses.at<X>(dy_id_);
  }
  void run() override {
    gradients_.fold_constants();
    three_phases(
        shape_.threads, grid_of(shape_),
        [this](std::int64_t block, std::int64_t image) {
          gradients_.clear(block, image);
          gradients_.add({.block = block, .image = image, .count = shape_.pixels, .slot = image},
                         dy_ + offset_of(shape_, block, image));
        },
        [this](std::int64_t block) { gradients_.close(block); }, [](std::int64_t, std::int64_t) {});
  }

 private:
  NormShape shape_;
  TensorId dy_id_;
  SharedGradients<X> gradients_;
  const X* dy_ = nullptr;
};

template <class X>
class Finish final : public Kernel {
 public:
  Finish(const NormShape& shape, const NormFinish& work) : shape_(shape), work_(work) {
    if (shape.is_over_ranks()) over_ranks_.resize(static_cast<std::size_t>(shape.blocks * shape.block) * 2);
  }
  void bind(const Addresses& addresses) override {
    value_ = addresses.at<X>(work_.value);
    gradient_ = addresses.at<X>(work_.gradient);
    sums_ = addresses.f32(work_.sums);
    statistics_ = addresses.f32(work_.statistics);
    dx_ = addresses.at<X>(work_.dx);
    constants_ = addresses.f32(work_.constants);
  }
  void run() override {
    const std::int64_t channels = shape_.blocks * shape_.block;
    if (!over_ranks_.empty()) average_sums();
    float* by_g = constants_;
    float* by_x = constants_ + channels;
    float* constant = constants_ + 2 * channels;
    const BlockStatistics from = statistics_at(statistics_, channels, 0);
    for (std::int64_t c = 0; c < channels; ++c) {
      const double istd = from.istd[c];
      const double slope = -istd * istd * static_cast<double>(sums_[channels + c]);
      by_g[c] = from.istd[c];
      by_x[c] = static_cast<float>(slope);
      constant[c] =
          static_cast<float>(-istd * static_cast<double>(sums_[c]) - slope * static_cast<double>(from.mean[c]));
    }
    parallel_ranges(shape_.threads, shape_.blocks * shape_.images, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) {
        const std::int64_t block = cell % shape_.blocks;
        const std::int64_t at = cell * shape_.pixels * shape_.block;
        const std::int64_t c = block * shape_.block;
        simd::gradient_apply(simd::GradientApply<X>{.x = value_ + at,
                                                    .g = gradient_ + at,
                                                    .dx = dx_ + at,
                                                    .by_g = by_g + c,
                                                    .by_x = by_x + c,
                                                    .constant = constant + c,
                                                    .pixels = shape_.pixels,
                                                    .block = shape_.block});
      }
    });
  }

 private:
  // Averages A and B over the ranks. They are means over a rank's images, and all ranks have the same number of images.
  void average_sums() {
    for (std::size_t i = 0; i < over_ranks_.size(); ++i) over_ranks_[i] = static_cast<double>(sums_[i]);
    shape_.sum_over_ranks(over_ranks_);
    for (std::size_t i = 0; i < over_ranks_.size(); ++i) {
      sums_[i] = static_cast<float>(over_ranks_[i] / shape_.group->ranks);
    }
  }

  NormShape shape_;
  NormFinish work_;
  /// Array [A | B] of all ranks; empty if statistics cover only this rank.
  std::vector<double> over_ranks_;
  const X* value_ = nullptr;
  const X* gradient_ = nullptr;
  float* sums_ = nullptr;
  float* statistics_ = nullptr;
  X* dx_ = nullptr;
  float* constants_ = nullptr;
};
}  // namespace

std::unique_ptr<Kernel> single_backward_kernel(const NormShape& shape, const NormBackward& work) {
  return for_types(shape, [&]<class X, class Y>(X, Y) -> std::unique_ptr<Kernel> {
    return std::make_unique<SingleBackward<X, Y>>(shape, work);
  });
}
// Value and result have the same type, as in every virtual concatenation.
std::unique_ptr<Kernel> shared_backward_kernel(const NormShape& shape, const NormBackward& work) {
  return for_type(shape.value_dtype, [&]<class X>(X) -> std::unique_ptr<Kernel> {
    return std::make_unique<SharedBackward<X>>(shape, work);
  });
}
std::unique_ptr<Kernel> finish_kernel(const NormShape& shape, NormFinish work) {
  return for_type(shape.value_dtype,
                  [&]<class X>(X) -> std::unique_ptr<Kernel> { return std::make_unique<Finish<X>>(shape, work); });
}

}  // namespace roentgen::engine::cpu
