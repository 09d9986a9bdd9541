// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/kernels.h"

#include <algorithm>

#include "core/error.h"

// Two steps between scalar and AVX2 are not worth their compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/transform/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace roentgen::data {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;

// A vector of samples as levels.
template <typename T>
HWY_INLINE hn::Vec<Floats> load_levels(const T* samples) {
  const Floats f32;
  const hn::Rebind<std::int32_t, Floats> i32;
  const hn::Rebind<T, Floats> narrow;
  const auto levels = hn::ConvertTo(f32, hn::PromoteTo(i32, hn::LoadU(narrow, samples)));
  if constexpr (sizeof(T) == 1) return levels;
  return hn::Mul(levels, hn::Set(f32, 1.0F / kWideLevels));
}

template <typename T>
float level_of(T sample) {
  return sizeof(T) == 1 ? static_cast<float>(sample) : static_cast<float>(sample) * (1.0F / kWideLevels);
}

// `Vectors` neighbouring vectors of dst at x.
template <int Vectors, typename T>
HWY_INLINE void mix_rows_at(SourceRows<T> rows, std::span<const float> weights, std::size_t x, float* dst) {
  const Floats f32;
  const std::size_t lanes = hn::Lanes(f32);
  const T* row = rows.samples.data() + x;
  auto sum0 = hn::Zero(f32);
  auto sum1 = sum0;
  auto sum2 = sum0;
  auto sum3 = sum0;
  for (const float number : weights) {
    const auto weight = hn::Set(f32, number);
    sum0 = hn::MulAdd(load_levels(row), weight, sum0);
    if constexpr (Vectors == 4) {
      sum1 = hn::MulAdd(load_levels(row + lanes), weight, sum1);
      sum2 = hn::MulAdd(load_levels(row + 2 * lanes), weight, sum2);
      sum3 = hn::MulAdd(load_levels(row + 3 * lanes), weight, sum3);
    }
    row += rows.stride;
  }
  hn::StoreU(sum0, f32, dst + x);
  if constexpr (Vectors == 4) {
    hn::StoreU(sum1, f32, dst + x + lanes);
    hn::StoreU(sum2, f32, dst + x + 2 * lanes);
    hn::StoreU(sum3, f32, dst + x + 3 * lanes);
  }
}

template <typename T>
void mix_rows_any(SourceRows<T> rows, std::span<const float> weights, std::span<float> dst) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t x = 0;
  for (; x + 4 * lanes <= dst.size(); x += 4 * lanes) mix_rows_at<4>(rows, weights, x, dst.data());
  for (; x + lanes <= dst.size(); x += lanes) mix_rows_at<1>(rows, weights, x, dst.data());
  if (x == dst.size()) return;
  if (dst.size() >= lanes) {  // once more, a little further left
    mix_rows_at<1>(rows, weights, dst.size() - lanes, dst.data());
    return;
  }
  for (; x < dst.size(); ++x) {
    float sum = 0.0F;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      sum += weights[k] * level_of(rows.samples[k * static_cast<std::size_t>(rows.stride) + x]);
    }
    dst[x] = sum;
  }
}

void mix_rows_u8(SourceRows<std::uint8_t> rows, std::span<const float> weights, std::span<float> dst) {
  mix_rows_any(rows, weights, dst);
}
void mix_rows_u16(SourceRows<std::uint16_t> rows, std::span<const float> weights, std::span<float> dst) {
  mix_rows_any(rows, weights, dst);
}

void mix_columns_f32(std::span<const float> row, const Taps& taps, std::span<float> dst) {
  const hn::CappedTag<float, Taps::kPad> f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const std::int64_t outputs = taps.outputs();
  const std::int64_t stride = taps.stride();
  for (std::int64_t i = 0; i < outputs; ++i) {
    const float* samples = row.data() + taps.first(i);
    const float* weights = taps.weights(i).data();
    auto sum = hn::Zero(f32);
    for (std::int64_t k = 0; k < stride; k += lanes) {
      sum = hn::MulAdd(hn::LoadU(f32, samples + k), hn::LoadU(f32, weights + k), sum);
    }
    dst[static_cast<std::size_t>(i)] = hn::GetLane(hn::SumOfLanes(f32, sum));
  }
}

void finish_row_f32(std::span<const float> levels, const Finish& finish, std::span<float> dst) {
  const Floats f32;
  const std::size_t lanes = hn::Lanes(f32);
  const auto one = hn::Set(f32, 1.0F);
  const auto value = [&](auto level) HWY_ATTR {
    const auto v = hn::MulAdd(level, hn::Set(f32, finish.gain), hn::Set(f32, finish.offset));
    const auto clamped = hn::Min(hn::Max(v, hn::Zero(f32)), one);
    return hn::MulAdd(clamped, hn::Set(f32, finish.scale), hn::Set(f32, finish.bias));
  };
  std::size_t i = 0;
  for (; i + lanes <= dst.size(); i += lanes) hn::StoreU(value(hn::LoadU(f32, levels.data() + i)), f32, dst.data() + i);
  for (; i < dst.size(); ++i) dst[i] = hn::GetLane(value(hn::Set(f32, levels[i])));
}

}  // namespace HWY_NAMESPACE
}  // namespace roentgen::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::data {
namespace {

HWY_EXPORT(mix_rows_u8);
HWY_EXPORT(mix_rows_u16);
HWY_EXPORT(mix_columns_f32);
HWY_EXPORT(finish_row_f32);

template <typename T>
void check_rows(SourceRows<T> rows, std::span<const float> weights, std::span<float> dst) {
  RG_ASSERT(!weights.empty());
  RG_ASSERT((weights.size() - 1) * static_cast<std::size_t>(rows.stride) + dst.size() <= rows.samples.size());
}

template <typename T>
void round_row(std::span<const float> levels, const Finish& finish, std::span<T> dst) {
  for (std::size_t i = 0; i < dst.size(); ++i) {
    const float v = std::clamp(levels[i] * finish.gain + finish.offset, 0.0F, 1.0F);
    dst[i] = static_cast<T>(v * finish.scale + finish.bias + 0.5F);
  }
}

}  // namespace

void mix_rows(SourceRows<std::uint8_t> rows, std::span<const float> weights, std::span<float> dst) {
  check_rows(rows, weights, dst);
  HWY_DYNAMIC_DISPATCH(mix_rows_u8)(rows, weights, dst);
}
void mix_rows(SourceRows<std::uint16_t> rows, std::span<const float> weights, std::span<float> dst) {
  check_rows(rows, weights, dst);
  HWY_DYNAMIC_DISPATCH(mix_rows_u16)(rows, weights, dst);
}
void mix_columns(std::span<const float> row, const Taps& taps, std::span<float> dst) {
  RG_ASSERT(dst.size() == static_cast<std::size_t>(taps.outputs()));
  RG_ASSERT(row.size() >= static_cast<std::size_t>(taps.end() + taps.stride()));
  HWY_DYNAMIC_DISPATCH(mix_columns_f32)(row, taps, dst);
}
void finish_row(std::span<const float> levels, const Finish& finish, std::span<float> dst) {
  RG_ASSERT(levels.size() >= dst.size());
  HWY_DYNAMIC_DISPATCH(finish_row_f32)(levels, finish, dst);
}
void finish_row(std::span<const float> levels, const Finish& finish, std::span<std::uint8_t> dst) {
  round_row(levels, finish, dst);
}
void finish_row(std::span<const float> levels, const Finish& finish, std::span<std::uint16_t> dst) {
  round_row(levels, finish, dst);
}

}  // namespace roentgen::data
#endif
