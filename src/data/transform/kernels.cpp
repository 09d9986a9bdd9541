// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/kernels.h"

#include <algorithm>
#include <array>

#include "core/error.h"

// Highway's SSE targets are disabled, because they are not worth their compile time.
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

// Loads a vector of samples as levels.
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

// Computes `Vectors` adjacent vectors of dst from index x.
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
  if (dst.size() >= lanes) {  // recomputes a few outputs, so that the last vector is full
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

// Loads a vector of levels from output `i`, of a row of `count` outputs.
HWY_INLINE hn::Vec<Floats> levels_at(std::span<const float> levels, std::size_t i, std::size_t /*count*/) {
  return hn::LoadU(Floats(), levels.data() + i);
}
template <typename T>
HWY_INLINE hn::Vec<Floats> levels_at(const SampleRow<T>& row, std::size_t i, std::size_t count) {
  if (!row.is_mirrored) return load_levels(row.samples.data() + i);
  return hn::Reverse(Floats(), load_levels(row.samples.data() + (count - i - hn::Lanes(Floats()))));
}

template <typename Dst>
HWY_INLINE void store_finished(hn::Vec<Floats> levels, const Finish& finish, Dst* dst) {
  const Floats f32;
  const auto scaled = hn::MulAdd(levels, hn::Set(f32, finish.gain), hn::Set(f32, finish.offset));
  const auto v = hn::Min(hn::Max(scaled, hn::Zero(f32)), hn::Set(f32, 1.0F));
  if constexpr (sizeof(Dst) == sizeof(float)) {
    hn::StoreU(hn::MulAdd(v, hn::Set(f32, finish.scale), hn::Set(f32, finish.bias)), f32, dst);
  } else {
    const auto x = hn::Add(hn::Mul(v, hn::Set(f32, finish.scale)), hn::Set(f32, finish.bias + 0.5F));
    const hn::Rebind<std::int32_t, Floats> i32;
    const hn::Rebind<Dst, Floats> narrow;
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(i32, x)), narrow, dst);
  }
}

// Finishes the last outputs of a row, fewer than a vector, through a buffer that holds a whole vector.
template <typename T, typename Dst>
void finish_rest(std::span<const T> source, bool is_mirrored, const Finish& finish, std::span<Dst> dst) {
  const std::size_t count = dst.size();
  std::array<T, 16> from{};
  std::array<Dst, 16> to{};
  if (is_mirrored) {
    std::reverse_copy(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(count), from.begin());
  } else {
    std::copy(source.end() - static_cast<std::ptrdiff_t>(count), source.end(), from.begin());
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    store_finished(hn::LoadU(Floats(), from.data()), finish, to.data());
  } else {
    store_finished(load_levels(from.data()), finish, to.data());
  }
  std::copy_n(to.begin(), count, dst.begin());
}
template <typename Dst>
void finish_last(std::span<const float> levels, const Finish& finish, std::span<Dst> dst) {
  finish_rest(levels, false, finish, dst);
}
template <typename T, typename Dst>
void finish_last(const SampleRow<T>& row, const Finish& finish, std::span<Dst> dst) {
  finish_rest(row.samples, row.is_mirrored, finish, dst);
}

template <typename Source, typename Dst>
void finish_any(const Source& source, const Finish& finish, std::span<Dst> dst) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t i = 0;
  for (; i + lanes <= dst.size(); i += lanes) {
    store_finished(levels_at(source, i, dst.size()), finish, dst.data() + i);
  }
  if (i < dst.size()) finish_last(source, finish, dst.subspan(i));
}

template <typename Source>
void finish_typed(const Source& source, const Finish& finish, const OutputRow& dst) {
  std::visit([&](auto row) HWY_ATTR { finish_any(source, finish, row); }, dst);
}

void finish_levels(std::span<const float> levels, const Finish& finish, const OutputRow& dst) {
  finish_typed(levels, finish, dst);
}
void finish_u8(SampleRow<std::uint8_t> row, const Finish& finish, const OutputRow& dst) {
  finish_typed(row, finish, dst);
}
void finish_u16(SampleRow<std::uint16_t> row, const Finish& finish, const OutputRow& dst) {
  finish_typed(row, finish, dst);
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
HWY_EXPORT(finish_levels);
HWY_EXPORT(finish_u8);
HWY_EXPORT(finish_u16);

template <typename T>
void check_rows(SourceRows<T> rows, std::span<const float> weights, std::span<float> dst) {
  RG_ASSERT(!weights.empty());
  RG_ASSERT((weights.size() - 1) * static_cast<std::size_t>(rows.stride) + dst.size() <= rows.samples.size());
}

std::size_t size_of_row(const OutputRow& dst) {
  return std::visit([](auto row) { return row.size(); }, dst);
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
void finish_row(std::span<const float> levels, const Finish& finish, OutputRow dst) {
  RG_ASSERT(levels.size() >= size_of_row(dst));
  HWY_DYNAMIC_DISPATCH(finish_levels)(levels.first(size_of_row(dst)), finish, dst);
}
void finish_row(SampleRow<std::uint8_t> source, const Finish& finish, OutputRow dst) {
  RG_ASSERT(source.samples.size() == size_of_row(dst));
  HWY_DYNAMIC_DISPATCH(finish_u8)(source, finish, dst);
}
void finish_row(SampleRow<std::uint16_t> source, const Finish& finish, OutputRow dst) {
  RG_ASSERT(source.samples.size() == size_of_row(dst));
  HWY_DYNAMIC_DISPATCH(finish_u16)(source, finish, dst);
}

}  // namespace roentgen::data
#endif
