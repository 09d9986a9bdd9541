// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Winograd's input transforms: from the values or gradients of a tile to its positions. Results: winograd_results.cpp;
// weights: winograd_taps.cpp; products: winograd_products.cpp.
#include "engine/cpu/simd/winograd.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/winograd_values.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/elements-inl.h"
#include "engine/cpu/simd/winograd_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class D, class Place, class Read>
HWY_INLINE void tile_to_positions(D d, const Place& from, const Read& read, int block, float* to,
                                  std::int64_t position_stride) {
  using V = hn::Vec<D>;
  const auto store = [&](int i, int j, V v)
                         HWY_ATTR { hn::StoreU(v, d, to + (i * T::Across::kTo + j) * position_stride); };
  const std::int64_t pitch = from.width * block;
  const auto* corner = from.plane + from.row * pitch + from.column * block;
  if (from.row >= 0 && from.column >= 0 && from.row + T::Down::kFrom <= from.row_end &&
      from.column + T::Across::kFrom <= from.column_end) {
    transform<T>(
        d, [&](int i, int j) HWY_ATTR { return read(corner + i * pitch + j * block); }, store);
    return;
  }
  transform<T>(
      d,
      [&](int i, int j) HWY_ATTR {
        const std::int64_t y = from.row + i, x = from.column + j;
        const bool is_there = y >= 0 && y < from.row_end && x >= 0 && x < from.column_end;
        return is_there ? read(corner + i * pitch + j * block) : hn::Zero(d);
      },
      store);
}

template <class T>
HWY_INLINE void input_of(const WinogradWindow& window, const PlaneTile<const T>& from, const TileNorm& norm, int block,
                         float* to, std::int64_t position_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    const auto here = shifted(from, lane);
    const auto plain = [d](const T* at) HWY_ATTR { return load(d, at); };
    if (norm.scale == nullptr) {
      with_transforms<Input>(window, [&](auto both) HWY_ATTR {
        tile_to_positions<decltype(both)>(d, here, plain, block, to + lane, position_stride);
      });
      return;
    }
    const auto scale = hn::LoadU(d, norm.scale + lane), shift = hn::LoadU(d, norm.shift + lane);
    const auto least = norm.relu ? hn::Zero(d) : hn::Neg(hn::Inf(d));
    const auto read = [=](const T* at)
                          HWY_ATTR { return as_stored(hn::Max(least, hn::MulAdd(plain(at), scale, shift)), d, at); };
    with_transforms<Input>(window, [&](auto both) HWY_ATTR {
      tile_to_positions<decltype(both)>(d, here, read, block, to + lane, position_stride);
    });
  });
}
template <class T>
HWY_INLINE void gradient_of(const WinogradWindow& window, const PlaneTile<T>& from, int block, float* to,
                            std::int64_t position_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    const auto read = [d](const T* at) HWY_ATTR { return load(d, at); };
    with_transforms<Gradient>(window, [&](auto both) HWY_ATTR {
      tile_to_positions<decltype(both)>(d, shifted(from, lane), read, block, to + lane, position_stride);
    });
  });
}

void input_f32(const WinogradWindow& window, const PlaneTile<const float>& from, const TileNorm& norm, int block,
               float* to, std::int64_t position_stride) {
  input_of(window, from, norm, block, to, position_stride);
}
void input_bf16(const WinogradWindow& window, const PlaneTile<const Bf16>& from, const TileNorm& norm, int block,
                float* to, std::int64_t position_stride) {
  input_of(window, from, norm, block, to, position_stride);
}
void gradient_f32(const WinogradWindow& window, const PlaneTile<float>& from, int block, float* to,
                  std::int64_t position_stride) {
  gradient_of(window, from, block, to, position_stride);
}
void gradient_bf16(const WinogradWindow& window, const PlaneTile<Bf16>& from, int block, float* to,
                   std::int64_t position_stride) {
  gradient_of(window, from, block, to, position_stride);
}
}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(input_f32);
HWY_EXPORT(input_bf16);
HWY_EXPORT(gradient_f32);
HWY_EXPORT(gradient_bf16);

void winograd_input(const WinogradWindow& window, const PlaneTile<const float>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(input_f32)(window, from, norm, block, to, position_stride);
}
void winograd_input(const WinogradWindow& window, const PlaneTile<const Bf16>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(input_bf16)(window, from, norm, block, to, position_stride);
}
void winograd_gradient(const WinogradWindow& window, const PlaneTile<float>& from, int block, float* to,
                       std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(gradient_f32)(window, from, block, to, position_stride);
}
void winograd_gradient(const WinogradWindow& window, const PlaneTile<Bf16>& from, int block, float* to,
                       std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(gradient_bf16)(window, from, block, to, position_stride);
}
}  // namespace roentgen::engine::cpu::simd
#endif
