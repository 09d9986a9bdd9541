// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Two-dimensional transform: a one-dimensional one (winograd_axes-inl.h) down the columns, then one along the rows.
// Common part of all transforms of tiles. Kernel sources include this file once for each target.
#if defined(ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_TRANSFORM_INL_H_
#undef ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_TRANSFORM_INL_H_
#else
#define ROENTGEN_ENGINE_CPU_SIMD_WINOGRAD_TRANSFORM_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "engine/cpu/simd/winograd_axes-inl.h"
#include "engine/cpu/simd/winograd_window.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {

/// A pair of transforms: one down the columns, one along the rows.
template <class DownTransform, class AcrossTransform>
struct Both {
  using Down = DownTransform;
  using Across = AcrossTransform;
};
/// Runs a two-dimensional transform: reads load(row, column), and writes the results by store(row, column, v).
template <class T, class D, class Load, class Store>
HWY_INLINE void transform(D d, const Load& load, const Store& store) {
  using V = hwy::HWY_NAMESPACE::Vec<D>;
  using Down = typename T::Down;
  using Across = typename T::Across;
  V half[Down::kTo][Across::kFrom];
  for (int column = 0; column < Across::kFrom; ++column) {
    Down::apply(
        d, [&](int i) HWY_ATTR { return load(i, column); }, [&](int i, V v) HWY_ATTR { half[i][column] = v; });
  }
  for (int row = 0; row < Down::kTo; ++row) {
    Across::apply(
        d, [&](int i) HWY_ATTR { return half[row][i]; }, [&](int i, V v) HWY_ATTR { store(row, i, v); });
  }
}

/// Calls body(M()), where M is the Both of `Transform` for the taps of a known window, down and across.
template <template <WinogradAxis> class Transform, std::size_t kIndex = 0, class Body>
HWY_INLINE void with_transforms(const WinogradWindow& window, const Body& body) {
  constexpr WinogradWindow kWindow = kWinogradWindows[kIndex];
  if constexpr (kIndex + 1 < kWinogradWindows.size()) {
    if (window != kWindow) return with_transforms<Transform, kIndex + 1>(window, body);
  }
  body(Both<Transform<kWindow.down>, Transform<kWindow.across>>());
}

/// Returns `place` (a PlaneTile), moved by `lane` channels.
template <class Place>
HWY_INLINE Place shifted(Place place, std::int64_t lane) {
  place.plane += lane;
  return place;
}

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
