// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Backward kernels of batch normalisation.
#include <array>

#include "engine/cpu/norm/batch_norm_blocks.h"
#include "engine/cpu/norm/norm_gradients.h"
#include "engine/cpu/norm/shared_gradients.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/batch_norm.h"

namespace roentgen::engine::cpu {
namespace {
template <class X, class Y>
class SingleBackward final : public Kernel {
 public:
  SingleBackward(const NormShape& shape, const NormBackward& work)
      : shape_(shape), work_(work), over_ranks_(shape), gradients_(shape, work, shape.images) {
    RG_ASSERT(work.dx >= 0 || work.y_again < 0 || work.residual >= 0);
    gradients_.use_totals(over_ranks_.totals());
  }
  void bind(const Addresses& addresses) override {
    gradients_.bind(addresses);
    dy_ = addresses.at<Y>(work_.dy);
    g_ = work_.g >= 0 ? addresses.at<Y>(work_.g) : nullptr;
    dx_ = work_.dx >= 0 ? addresses.at<X>(work_.dx) : nullptr;
    y_again_ = work_.y_again >= 0 && work_.residual < 0 ? addresses.at<Y>(work_.y_again) : nullptr;
  }

  void run() override {
    for (std::int64_t block = 0; block < shape_.blocks; ++block) gradients_.fold_constants(block);
    over_ranks_.run(
        gradients_.partial(),
        [this](std::int64_t block, std::int64_t image) {
          gradients_.clear(block, image);
          gradients_.add({.block = block, .image = image, .count = shape_.pixels, .slot = image},
                         dy_ + offset_of(shape_, block, image));
        },
        [this](std::int64_t block) { gradients_.close(block); },
        [this](std::int64_t block, std::int64_t image) { apply(block, image); });
  }

 private:
  void apply(std::int64_t block, std::int64_t image) const {
    if (dx_ == nullptr) return;
    const BlockPlace<X>& place = gradients_.place(block);
    const std::int64_t at = offset_of(shape_, block, image);
    using Gradients = SingleGradients<X, Y>;
    simd::gradient_apply(simd::GradientApply<X, Y>{.x = place.value + image * place.image_stride,
                                                   .g = g_ != nullptr ? g_ + at : dy_ + at,
                                                   .dx = dx_ + at,
                                                   .y_again = y_again_ == nullptr ? nullptr : y_again_ + at,
                                                   .scale = gradients_.constant(Gradients::kScale, block),
                                                   .shift = gradients_.constant(Gradients::kShift, block),
                                                   .by_g = gradients_.constant(Gradients::kByG, block),
                                                   .by_x = gradients_.constant(Gradients::kByX, block),
                                                   .constant = gradients_.constant(Gradients::kConstant, block),
                                                   .pixels = shape_.pixels,
                                                   .block = shape_.block,
                                                   .mask = g_ != nullptr ? simd::Mask::None : gradients_.mask(),
                                                   .relu = work_.relu});
  }

  NormShape shape_;
  NormBackward work_;
  OverRanks over_ranks_;
  SingleGradients<X, Y> gradients_;
  const Y* dy_ = nullptr;
  Y* g_ = nullptr;
  X* dx_ = nullptr;
  Y* y_again_ = nullptr;
};

// The sum over all readers is stored as the value is, and read and written in the same pass as a gradient of theirs.
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
  // A and B are means over a rank's images; all ranks have as many.
  void average_sums() {
    for (std::size_t i = 0; i < over_ranks_.size(); ++i) over_ranks_[i] = static_cast<double>(sums_[i]);
    shape_.group->sum(over_ranks_, shape_.index);
    for (std::size_t i = 0; i < over_ranks_.size(); ++i) {
      sums_[i] = static_cast<float>(over_ranks_[i] / shape_.group->ranks);
    }
  }

  NormShape shape_;
  NormFinish work_;
  /// [A | B] of all ranks; empty where they are a rank's own.
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
std::unique_ptr<Kernel> shared_backward_kernel(const NormShape& shape, const NormBackward& work) {
  return for_shared(
      shape, [&]<class X>(X) -> std::unique_ptr<Kernel> { return std::make_unique<SharedBackward<X>>(shape, work); });
}
std::unique_ptr<Kernel> finish_kernel(const NormShape& shape, NormFinish work) {
  return for_shared(shape,
                    [&]<class X>(X) -> std::unique_ptr<Kernel> { return std::make_unique<Finish<X>>(shape, work); });
}

}  // namespace roentgen::engine::cpu
