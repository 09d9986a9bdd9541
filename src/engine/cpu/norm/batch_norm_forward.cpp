// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward kernels of batch norm, and statistics of values that several batch norms share.
#include <array>
#include <cmath>

#include "engine/cpu/norm/batch_norm_blocks.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/batch_norm.h"

namespace roentgen::engine::cpu {
namespace {
template <class X>
class Statistics final : public Kernel {
 public:
  Statistics(const NormShape& shape, const NormStatistics& work) : shape_(shape), work_(work), over_ranks_(shape) {}
  void bind(const Addresses& addresses) override {
    value_ = addresses.at<X>(work_.value);
    statistics_ = addresses.f32(work_.statistics);
    pivot_ = addresses.f32(work_.pivot) + work_.pivot_offset;
    partial_ = {addresses.f64(work_.partial), shape_.images, shape_.block, over_ranks_.totals()};
  }
  void run() override {
    const auto first = [this](std::int64_t block, std::int64_t image) {
      partial_.clear(block, image);
      simd::moments(value_ + offset_of(shape_, block, image), shape_.pixels, shape_.block,
                    pivot_ + block * shape_.block, partial_.first(block, image), partial_.second(block, image));
    };
    const auto middle = [this](std::int64_t block) {
      finish_statistics(shape_, partial_, block, pivot_ + block * shape_.block, work_.epsilon,
                        statistics_at(statistics_, shape_.blocks * shape_.block, block * shape_.block));
    };
    over_ranks_.run(partial_, first, middle, [](std::int64_t, std::int64_t) {});
  }

 private:
  NormShape shape_;
  NormStatistics work_;
  OverRanks over_ranks_;
  const X* value_ = nullptr;
  float* statistics_ = nullptr;
  const float* pivot_ = nullptr;
  Partial partial_;
};

// Returns the shape for this rank only, for statistics that are already known and need no exchange.
NormShape of_one(NormShape shape) {
  shape.group = nullptr;
  return shape;
}

template <class X, class Y>
class Forward final : public Kernel {
 public:
  Forward(const NormShape& shape, NormForward work, NormSource from)
      : shape_(from == NormSource::Batch ? shape : of_one(shape)),
        work_(std::move(work)),
        from_(from),
        counted_(shape),
        over_ranks_(shape_),
        table_(shape, work_.pieces) {}
  void bind(const Addresses& addresses) override {
    table_.bind(addresses);
    weight_ = addresses.f32(work_.parameters.scale);
    bias_ = addresses.f32(work_.parameters.shift);
    if (from_ != NormSource::Again) {
      running_mean_ = addresses.f32(work_.parameters.running_mean);
      running_variance_ = addresses.f32(work_.parameters.running_variance);
    }
    residual_ = work_.residual >= 0 ? addresses.at<Y>(work_.residual) : nullptr;
    if (work_.dst >= 0) dst_ = addresses.at<Y>(work_.dst);
    constants_ = addresses.f32(work_.constants);
    if (work_.partial >= 0) {
      const std::int64_t slots = work_.has_moments ? shape_.threads : shape_.images;
      partial_ = {addresses.f64(work_.partial), slots, shape_.block, over_ranks_.totals()};
    }
  }
  void run() override {
    over_ranks_.run(
        partial_, [this](std::int64_t block, std::int64_t image) { sum(block, image); },
        [this](std::int64_t block) { prepare(block); },
        [this](std::int64_t block, std::int64_t image) { apply(block, image); });
  }

 private:
  void sum(std::int64_t block, std::int64_t image) const {
    if (from_ != NormSource::Batch || work_.has_moments) return;
    partial_.clear(block, image);
    const BlockPlace<X>& place = table_[block];
    simd::moments(place.value + image * place.image_stride, shape_.pixels, shape_.block,
                  running_mean_ + block * shape_.block, partial_.first(block, image), partial_.second(block, image));
  }
  void prepare(std::int64_t block) const {
    const std::int64_t c = block * shape_.block;
    const BlockPlace<X>& place = table_[block];
    if (from_ == NormSource::Running) {
      std::array<float, kMostBlock> istd{};
      for (int i = 0; i < shape_.block; ++i) {
        const double variance = static_cast<double>(running_variance_[c + i]) + work_.parameters.epsilon;
        istd[static_cast<std::size_t>(i)] = static_cast<float>(1.0 / std::sqrt(variance));
      }
      fold(shape_.block, weight_ + c, bias_ + c, {running_mean_ + c, nullptr, istd.data()}, scale(block), shift(block));
      return;
    }
    if (from_ == NormSource::Batch) {
      finish_statistics(shape_, partial_, block, running_mean_ + c, work_.parameters.epsilon, place.statistics);
    }
    fold(shape_.block, weight_ + c, bias_ + c, place.statistics, scale(block), shift(block));
    if (from_ == NormSource::Again) return;
    move_running(counted_, place.statistics, work_.parameters.momentum, running_mean_ + c, running_variance_ + c);
  }
  void apply(std::int64_t block, std::int64_t image) const {
    if (dst_ == nullptr) return;
    const BlockPlace<X>& place = table_[block];
    const std::int64_t at = offset_of(shape_, block, image);
    const X* x = place.value + image * place.image_stride;
    const bool is_elsewhere = static_cast<const void*>(dst_ + at) != x && dst_ != residual_;
    simd::scale_shift(simd::ScaleShift<X, Y>{.x = x,
                                             .residual = residual_ == nullptr ? nullptr : residual_ + at,
                                             .y = dst_ + at,
                                             .scale = scale(block),
                                             .shift = shift(block),
                                             .pixels = shape_.pixels,
                                             .block = shape_.block,
                                             .relu = work_.relu,
                                             .stream = shape_.is_streamed && is_elsewhere});
  }
  [[nodiscard]] float* scale(std::int64_t block) const { return constants_ + block * shape_.block; }
  [[nodiscard]] float* shift(std::int64_t block) const { return constants_ + (shape_.blocks + block) * shape_.block; }

  NormShape shape_;
  NormForward work_;
  NormSource from_;
  /// Copy of `shape_` whose count() includes the other ranks if they share the statistics.
  NormShape counted_;
  OverRanks over_ranks_;
  BlockTable<X> table_;
  const float* weight_ = nullptr;
  const float* bias_ = nullptr;
  float* running_mean_ = nullptr;
  float* running_variance_ = nullptr;
  const Y* residual_ = nullptr;
  Y* dst_ = nullptr;
  float* constants_ = nullptr;
  Partial partial_;
};
}  // namespace

std::unique_ptr<Kernel> norm_forward_kernel(NormSource source, const NormShape& shape, NormForward work) {
  return for_types(shape, [&]<class X, class Y>(X, Y) -> std::unique_ptr<Kernel> {
    return std::make_unique<Forward<X, Y>>(shape, std::move(work), source);
  });
}
std::unique_ptr<Kernel> statistics_kernel(const NormShape& shape, NormStatistics work) {
  return for_types(shape, [&]<class X, class Y>(X, Y) -> std::unique_ptr<Kernel> {
    return std::make_unique<Statistics<X>>(shape, work);
  });
}

}  // namespace roentgen::engine::cpu
