// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Transforms of a tile: two passes of a one-dimensional transform (winograd_axes-inl.h), first down the columns, then
// along the rows. The products are in winograd_products.cpp.
#include "engine/cpu/simd/winograd.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/winograd.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/claim.h"
#include "engine/cpu/simd/elements-inl.h"
#include "engine/cpu/simd/winograd_axes-inl.h"
#include "engine/cpu/simd/winograd_strided-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Transforms down the columns and along the rows.
template <class DownTransform, class AcrossTransform>
struct Both {
  using Down = DownTransform;
  using Across = AcrossTransform;
};
// In two dimensions: from load(row, column), down the columns, along the rows, to store(row, column, v).
template <class T, class D, class Load, class Store>
HWY_INLINE void transform(D d, const Load& load, const Store& store) {
  using V = hn::Vec<D>;
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

template <class M, class D, class T>
HWY_INLINE void positions_to_tile(D d, const float* from, std::int64_t position_stride, int block,
                                  const WinogradEpilogue& epilogue, const PlaneTile<T>& to) {
  using V = hn::Vec<D>;
  const auto position = [&](int i, int j)
                            HWY_ATTR { return hn::LoadU(d, from + (i * M::Across::kFrom + j) * position_stride); };
  const auto shift = epilogue.bias != nullptr ? hn::LoadU(d, epilogue.bias) : hn::Zero(d);
  const std::int64_t pitch = to.width * block;
  const std::int64_t rows = to.row_end - to.row, columns = to.column_end - to.column;
  T* corner = to.plane + to.row * pitch + to.column * block;
  transform<M>(d, position, [&](int i, int j, V v) HWY_ATTR {
    if (i >= rows || j >= columns) return;
    T* place = corner + i * pitch + j * block;
    V result = hn::Add(v, shift);
    if (epilogue.adds) result = hn::Add(result, load(d, place));
    if (epilogue.relu) result = hn::Max(result, hn::Zero(d));
    store<false>(result, d, place);
  });
}

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

template <class Place>
HWY_INLINE Place shifted(Place place, std::int64_t lane) {
  place.plane += lane;
  return place;
}

// Calls body(M()) with the transforms of a known window down and across, made of `Transform` for the taps of each.
template <template <WinogradAxis> class Transform, std::size_t kIndex = 0, class Body>
HWY_INLINE void with_transforms(const WinogradWindow& window, const Body& body) {
  constexpr WinogradWindow kWindow = kWinogradWindows[kIndex];
  if constexpr (kIndex + 1 < kWinogradWindows.size()) {
    if (window != kWindow) return with_transforms<Transform, kIndex + 1>(window, body);
  }
  if constexpr (!std::is_base_of_v<NoTransform, Transform<kWindow.down>>) {
    body(Both<Transform<kWindow.down>, Transform<kWindow.across>>());
  }
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
HWY_INLINE void output_of(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                          const WinogradEpilogue& epilogue, const PlaneTile<T>& to) {
  // Of blocks narrower than a line (8 in f32, 16 and 8 in bf16) several share one.
  const std::int64_t in_line = std::max<std::int64_t>(1, kLine_bytes / (block * static_cast<std::int64_t>(sizeof(T))));
  for (std::int64_t row = to.row; row < to.row_end; ++row) {
    for (std::int64_t column = to.column; column < to.column_end; column += in_line) {
      claim(to.plane + (row * to.width + column) * block);
    }
    if (in_line > 1) claim(to.plane + (row * to.width + to.column_end - 1) * block);
  }
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    WinogradEpilogue here = epilogue;
    if (here.bias != nullptr) here.bias += lane;
    with_transforms<Output>(window, [&](auto both) HWY_ATTR {
      positions_to_tile<decltype(both)>(d, from + lane, position_stride, block, here, shifted(to, lane));
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
void output_f32(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                const WinogradEpilogue& epilogue, const PlaneTile<float>& to) {
  output_of(window, from, position_stride, block, epilogue, to);
}
void output_bf16(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                 const WinogradEpilogue& epilogue, const PlaneTile<Bf16>& to) {
  output_of(window, from, position_stride, block, epilogue, to);
}
void gradient_f32(const WinogradWindow& window, const PlaneTile<float>& from, int block, float* to,
                  std::int64_t position_stride) {
  gradient_of(window, from, block, to, position_stride);
}
void gradient_bf16(const WinogradWindow& window, const PlaneTile<Bf16>& from, int block, float* to,
                   std::int64_t position_stride) {
  gradient_of(window, from, block, to, position_stride);
}
void weights_target(const WinogradWindow& window, const float* taps, std::int64_t tap_stride, int block, float* to,
                    std::int64_t position_stride) {
  // Those of a half step are those of its stride.
  const WinogradWindow& same = window.down.is_half() ? kStridedWindow : window;
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    with_transforms<Weights>(same, [&](auto both) HWY_ATTR {
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

HWY_EXPORT(input_f32);
HWY_EXPORT(input_bf16);
HWY_EXPORT(output_f32);
HWY_EXPORT(output_bf16);
HWY_EXPORT(gradient_f32);
HWY_EXPORT(gradient_bf16);
HWY_EXPORT(weights_target);
HWY_EXPORT(weights_gradient_target);

void winograd_input(const WinogradWindow& window, const PlaneTile<const float>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(input_f32)(window, from, norm, block, to, position_stride);
}
void winograd_input(const WinogradWindow& window, const PlaneTile<const Bf16>& from, const TileNorm& norm, int block,
                    float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(input_bf16)(window, from, norm, block, to, position_stride);
}
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<float>& to) {
  HWY_DYNAMIC_DISPATCH(output_f32)(window, from, position_stride, block, epilogue, to);
}
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<Bf16>& to) {
  HWY_DYNAMIC_DISPATCH(output_bf16)(window, from, position_stride, block, epilogue, to);
}
void winograd_gradient(const WinogradWindow& window, const PlaneTile<float>& from, int block, float* to,
                       std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(gradient_f32)(window, from, block, to, position_stride);
}
void winograd_gradient(const WinogradWindow& window, const PlaneTile<Bf16>& from, int block, float* to,
                       std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(gradient_bf16)(window, from, block, to, position_stride);
}
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
