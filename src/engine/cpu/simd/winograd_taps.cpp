// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Winograd's weight transforms: from kernel taps to transformed positions, and from gradients of positions to gradients
// of taps.
#include "engine/cpu/simd/winograd.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/winograd_taps.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/elements-inl.h"
#include "engine/cpu/simd/winograd_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class M, class D>
HWY_INLINE void taps_to_positions(D d, const float* taps, std::int64_t tap_stride, float* to,
                                  std::int64_t position_stride) {
  using V = hn::Vec<D>;
  transform<M>(
      d, [&](int i, int j) HWY_ATTR { return hn::LoadU(d, taps + (i * M::Across::kFrom + j) * tap_stride); },
      [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, d, to + (i * M::Across::kTo + j) * position_stride); });
}

template <class M, class D>
HWY_INLINE void positions_to_taps(D d, const WinogradLanes& from, std::int64_t first, float* taps,
                                  std::int64_t tap_stride) {
  using V = hn::Vec<D>;
  const auto sum_at = [&](int position) HWY_ATTR {
    const float* at = from.base + position * from.position_stride + first;
    V sum = hn::LoadU(d, at);
    for (std::int64_t lane = 1; lane < from.lanes; ++lane)
      sum = hn::Add(sum, hn::LoadU(d, at + lane * from.lane_stride));
    return sum;
  };
  transform<M>(
      d, [&](int i, int j) HWY_ATTR { return sum_at(i * M::Across::kFrom + j); },
      [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, d, taps + (i * M::Across::kTo + j) * tap_stride); });
}

void weights_target(const WinogradWindow& window, const float* taps, std::int64_t tap_stride, int block, float* to,
                    std::int64_t position_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    with_transforms<Weights>(window, [&](auto both) HWY_ATTR {
      taps_to_positions<decltype(both)>(d, taps + lane, tap_stride, to + lane, position_stride);
    });
  });
}
void weights_gradient_target(const WinogradWindow& window, const WinogradLanes& from, int block, float* taps,
                             std::int64_t tap_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    with_transforms<WeightsGradient>(
        window, [&](auto both) HWY_ATTR { positions_to_taps<decltype(both)>(d, from, lane, taps + lane, tap_stride); });
  });
}
}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(weights_target);
HWY_EXPORT(weights_gradient_target);

void winograd_weights(const WinogradWindow& window, const float* taps, std::int64_t tap_stride, int block, float* to,
                      std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(weights_target)(window, taps, tap_stride, block, to, position_stride);
}
void winograd_weights_gradient(const WinogradWindow& window, const WinogradLanes& from, int block, float* taps,
                               std::int64_t tap_stride) {
  HWY_DYNAMIC_DISPATCH(weights_gradient_target)(window, from, block, taps, tap_stride);
}

}  // namespace roentgen::engine::cpu::simd
#endif
