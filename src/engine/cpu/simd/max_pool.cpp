// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/simd/max_pool.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/max_pool.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Range of a window along one axis that lies inside the plane.
struct Within {
  std::int64_t begin;
  std::int64_t end;
};
// Rows [begin, end) of dst, in the lanes from `lane` on.
struct LaneRows {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t lane;
};
HWY_INLINE Within within(std::int64_t first, std::int64_t kernel, std::int64_t length) {
  return {std::max<std::int64_t>(0, -first), std::min(kernel, length - first)};
}

// kSide: side of square windows whose loops are unrolled; 0: any window.
template <std::int64_t kSide, bool kNorm, class D, class T>
HWY_INLINE void max_pool_lanes(D d, const PoolExtent& e, const MaxPool<T>& work, const LaneRows& of) {
  const std::int64_t lane = of.lane;
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<std::uint8_t, D> d8;
  const V zero = hn::Zero(d);
  const V scale = kNorm ? hn::LoadU(d, work.scale + lane) : zero;
  const V shift = kNorm ? hn::LoadU(d, work.shift + lane) : zero;
  for (std::int64_t row = of.begin; row < of.end; ++row) {
    const std::int64_t top = row * e.stride_y - e.pad_top;
    const Within rows = within(top, e.kernel_height, e.in_height);
    for (std::int64_t column = 0; column < e.out_width; ++column) {
      const std::int64_t left = column * e.stride_x - e.pad_left;
      const Within columns = within(left, e.kernel_width, e.in_width);
      V best = hn::Set(d, -std::numeric_limits<float>::infinity());
      V position = hn::Set(d, static_cast<float>(rows.begin * e.kernel_width + columns.begin));
      const auto look_at = [&](std::int64_t y, std::int64_t x) HWY_ATTR {
        V value = load(d, work.src + ((top + y) * e.in_width + left + x) * e.block + lane);
        if constexpr (kNorm) {
          value = hn::MulAdd(value, scale, shift);
          // The operand that may be NaN is second, because x86's max then returns it.
          if (work.relu) value = hn::Max(zero, value);
        }
        const auto is_larger = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
        best = hn::IfThenElse(is_larger, value, best);
        position = hn::IfThenElse(is_larger, hn::Set(d, static_cast<float>(y * e.kernel_width + x)), position);
      };
      if (kSide > 0 && rows.end - rows.begin == kSide && columns.end - columns.begin == kSide) {
        for (std::int64_t y = 0; y < kSide; ++y) {
          for (std::int64_t x = 0; x < kSide; ++x) look_at(y, x);
        }
      } else {
        for (std::int64_t y = rows.begin; y < rows.end; ++y) {
          for (std::int64_t x = columns.begin; x < columns.end; ++x) look_at(y, x);
        }
      }
      const std::int64_t at = (row * e.out_width + column) * e.block + lane;
      store<false>(best, d, work.dst + at);
      if (work.position != nullptr) {
        hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, position)), d8, work.position + at);
      }
    }
  }
}

template <class T>
HWY_INLINE void max_pool_of(const PoolExtent& e, const MaxPool<T>& work, std::int64_t begin, std::int64_t end) {
  const bool is_3x3 = e.kernel_height == 3 && e.kernel_width == 3;
  const bool is_2x2 = e.kernel_height == 2 && e.kernel_width == 2;
  for_lanes(e.block, [&](auto d, std::int64_t lane) HWY_ATTR {
    const LaneRows of{begin, end, lane};
    if (work.scale != nullptr) {
      if (is_3x3) return max_pool_lanes<3, true>(d, e, work, of);
      if (is_2x2) return max_pool_lanes<2, true>(d, e, work, of);
      return max_pool_lanes<0, true>(d, e, work, of);
    }
    if (is_3x3) return max_pool_lanes<3, false>(d, e, work, of);
    if (is_2x2) return max_pool_lanes<2, false>(d, e, work, of);
    max_pool_lanes<0, false>(d, e, work, of);
  });
}

template <class T>
HWY_INLINE void max_pool_gradient_of(const PoolExtent& e, const MaxPoolGradient<T>& work, std::int64_t row) {
  T* to = work.diff_src + row * e.in_width * e.block;
  // Windows [first_row, end_row) contain this row.
  const std::int64_t from_top = row + e.pad_top;
  std::int64_t first_row = 0;
  while (first_row * e.stride_y + e.kernel_height <= from_top) ++first_row;
  const std::int64_t end_row = std::min(e.out_height, from_top / e.stride_y + 1);
  for_lanes(e.block, [&](auto d, std::int64_t lane) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> d32;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    // Windows [first, end) contain this column.
    std::int64_t first = 0, end = 0;
    for (std::int64_t column = 0; column < e.in_width; ++column) {
      const std::int64_t from_left = column + e.pad_left;
      while (first * e.stride_x + e.kernel_width <= from_left) ++first;
      while (end < e.out_width && end * e.stride_x <= from_left) ++end;
      auto sum = hn::Zero(d);
      for (std::int64_t y = first_row; y < end_row; ++y) {
        const std::int64_t window_row = (from_top - y * e.stride_y) * e.kernel_width;
        for (std::int64_t x = first; x < end; ++x) {
          const std::int64_t at = (y * e.out_width + x) * e.block + lane;
          const auto here = hn::Set(d32, static_cast<std::int32_t>(window_row + from_left - x * e.stride_x));
          const auto is_maximum = hn::Eq(hn::PromoteTo(d32, hn::LoadU(d8, work.position + at)), here);
          const auto gradient = load(d, work.diff_dst + at);
          sum = hn::Add(sum, hn::IfThenElseZero(hn::RebindMask(d, is_maximum), gradient));
        }
      }
      store<false>(sum, d, to + column * e.block + lane);
    }
  });
}

// One function for each type, because Highway's dispatch does not support templates.
#define RG_POOL(T, suffix)                                                                                    \
  void max_pool_##suffix(const PoolExtent& e, const MaxPool<T>& work, std::int64_t begin, std::int64_t end) { \
    max_pool_of(e, work, begin, end);                                                                         \
  }                                                                                                           \
  void max_pool_gradient_##suffix(const PoolExtent& e, const MaxPoolGradient<T>& work, std::int64_t row) {    \
    max_pool_gradient_of(e, work, row);                                                                       \
  }
RG_POOL(float, f32)
RG_POOL(Bf16, bf16)
#undef RG_POOL

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

#define RG_DISPATCH(T, suffix)                                                                       \
  HWY_EXPORT(max_pool_##suffix);                                                                     \
  HWY_EXPORT(max_pool_gradient_##suffix);                                                            \
  template <>                                                                                        \
  void max_pool(const PoolExtent& e, const MaxPool<T>& work, std::int64_t begin, std::int64_t end) { \
    HWY_DYNAMIC_DISPATCH(max_pool_##suffix)(e, work, begin, end);                                    \
  }                                                                                                  \
  template <>                                                                                        \
  void max_pool_gradient(const PoolExtent& e, const MaxPoolGradient<T>& work, std::int64_t row) {    \
    HWY_DYNAMIC_DISPATCH(max_pool_gradient_##suffix)(e, work, row);                                  \
  }
RG_DISPATCH(float, f32)
RG_DISPATCH(Bf16, bf16)
#undef RG_DISPATCH

}  // namespace roentgen::engine::cpu::simd
#endif
