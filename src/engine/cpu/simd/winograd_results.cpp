// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Winograd's output transform: computes the results of a tile from its transformed positions.
#include "engine/cpu/simd/winograd.h"

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/winograd_results.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/claim.h"
#include "engine/cpu/simd/elements-inl.h"
#include "engine/cpu/simd/winograd_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

template <class T>
HWY_INLINE void output_of(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                          const WinogradEpilogue& epilogue, const PlaneTile<T>& to) {
  // A cache line has several blocks if they are narrower than the line: 8 channels in f32, 16 or 8 in bf16.
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
void output_f32(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                const WinogradEpilogue& epilogue, const PlaneTile<float>& to) {
  output_of(window, from, position_stride, block, epilogue, to);
}
void output_bf16(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                 const WinogradEpilogue& epilogue, const PlaneTile<Bf16>& to) {
  output_of(window, from, position_stride, block, epilogue, to);
}
}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(output_f32);
HWY_EXPORT(output_bf16);

void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<float>& to) {
  HWY_DYNAMIC_DISPATCH(output_f32)(window, from, position_stride, block, epilogue, to);
}
void winograd_output(const WinogradWindow& window, const float* from, std::int64_t position_stride, int block,
                     const WinogradEpilogue& epilogue, const PlaneTile<Bf16>& to) {
  HWY_DYNAMIC_DISPATCH(output_bf16)(window, from, position_stride, block, epilogue, to);
}
}  // namespace roentgen::engine::cpu::simd
#endif
