// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Transforms of a tile: two passes of a one-dimensional transform, first down the columns, then along the rows. The
// products are in winograd_products.cpp.
#include "engine/cpu/simd/winograd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/winograd.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/claim.h"
#include "engine/cpu/simd/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The transforms of F(4, 3) in one dimension, from x(i) to y(i, v), at the points 0, a, -a, b, -b and infinity. With
// a = 5/8 and b = 3/2 rounding errors are about half of those at the customary 1 and 2 (their powers lie nearer to each
// other), and all constants but the k are exact in binary.
constexpr float kA = 0.625F, kB = 1.5F;
constexpr float kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;
constexpr float kProduct = kA2 * kB2, kSum = kA2 + kB2;
// 1 / product of a point's distances from the others, infinity left out.
constexpr float kAtZero = 1.0F / kProduct, kAtA = 0.5F / (kA2 * (kA2 - kB2)), kAtB = 0.5F / (kB2 * (kB2 - kA2));

struct Input {  // B^T
  static constexpr int kFrom = 6, kTo = 6;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    const auto a = hn::Set(d, kA), b = hn::Set(d, kB), a2 = hn::Set(d, kA2), b2 = hn::Set(d, kB2);
    const auto product = hn::Set(d, kProduct), sum = hn::Set(d, kSum);
    const auto x0 = x(0), x1 = x(1), x2 = x(2), x3 = x(3), x4 = x(4), x5 = x(5);
    const auto even_a = hn::NegMulAdd(b2, x2, x4), odd_a = hn::NegMulAdd(b2, x1, x3);
    const auto even_b = hn::NegMulAdd(a2, x2, x4), odd_b = hn::NegMulAdd(a2, x1, x3);
    y(0, hn::MulAdd(product, x0, hn::NegMulAdd(sum, x2, x4)));
    y(1, hn::MulAdd(a, odd_a, even_a));
    y(2, hn::NegMulAdd(a, odd_a, even_a));
    y(3, hn::MulAdd(b, odd_b, even_b));
    y(4, hn::NegMulAdd(b, odd_b, even_b));
    y(5, hn::MulAdd(product, x1, hn::NegMulAdd(sum, x3, x5)));
  }
};
struct Output {  // A^T
  static constexpr int kFrom = 6, kTo = 4;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    const auto x1 = x(1), x2 = x(2), x3 = x(3), x4 = x(4);
    const auto sum_a = hn::Add(x1, x2), difference_a = hn::Sub(x1, x2);
    const auto sum_b = hn::Add(x3, x4), difference_b = hn::Sub(x3, x4);
    y(0, hn::Add(hn::Add(x(0), sum_a), sum_b));
    y(1, hn::MulAdd(hn::Set(d, kA), difference_a, hn::Mul(hn::Set(d, kB), difference_b)));
    y(2, hn::MulAdd(hn::Set(d, kA2), sum_a, hn::Mul(hn::Set(d, kB2), sum_b)));
    y(3, hn::MulAdd(hn::Set(d, kA3), difference_a, hn::MulAdd(hn::Set(d, kB3), difference_b, x(5))));
  }
};
struct Gradient {  // A
  static constexpr int kFrom = 4, kTo = 6;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    const auto a = hn::Set(d, kA), b = hn::Set(d, kB), a2 = hn::Set(d, kA2), b2 = hn::Set(d, kB2);
    const auto x0 = x(0), x1 = x(1), x2 = x(2), x3 = x(3);
    const auto even_a = hn::MulAdd(a2, x2, x0), odd_a = hn::MulAdd(a2, x3, x1);
    const auto even_b = hn::MulAdd(b2, x2, x0), odd_b = hn::MulAdd(b2, x3, x1);
    y(0, x0);
    y(1, hn::MulAdd(a, odd_a, even_a));
    y(2, hn::NegMulAdd(a, odd_a, even_a));
    y(3, hn::MulAdd(b, odd_b, even_b));
    y(4, hn::NegMulAdd(b, odd_b, even_b));
    y(5, x3);
  }
};
struct Weights {  // G
  static constexpr int kFrom = 3, kTo = 6;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    const auto at_a = hn::Set(d, kAtA), at_b = hn::Set(d, kAtB);
    const auto x0 = x(0), x1 = x(1), x2 = x(2);
    const auto even_a = hn::Mul(at_a, hn::MulAdd(hn::Set(d, kA2), x2, x0)), odd_a = hn::Mul(hn::Set(d, kAtA * kA), x1);
    const auto even_b = hn::Mul(at_b, hn::MulAdd(hn::Set(d, kB2), x2, x0)), odd_b = hn::Mul(hn::Set(d, kAtB * kB), x1);
    y(0, hn::Mul(hn::Set(d, kAtZero), x0));
    y(1, hn::Add(even_a, odd_a));
    y(2, hn::Sub(even_a, odd_a));
    y(3, hn::Add(even_b, odd_b));
    y(4, hn::Sub(even_b, odd_b));
    y(5, x2);
  }
};
struct WeightsGradient {  // G^T
  static constexpr int kFrom = 6, kTo = 3;
  template <class D, class X, class Y>
  static HWY_INLINE void apply(D d, const X& x, const Y& y) {
    const auto x1 = x(1), x2 = x(2), x3 = x(3), x4 = x(4);
    const auto sum_a = hn::Mul(hn::Set(d, kAtA), hn::Add(x1, x2)), sum_b = hn::Mul(hn::Set(d, kAtB), hn::Add(x3, x4));
    const auto difference_b = hn::Mul(hn::Set(d, kAtB * kB), hn::Sub(x3, x4));
    y(0, hn::MulAdd(hn::Set(d, kAtZero), x(0), hn::Add(sum_a, sum_b)));
    y(1, hn::MulAdd(hn::Set(d, kAtA * kA), hn::Sub(x1, x2), difference_b));
    y(2, hn::MulAdd(hn::Set(d, kA2), sum_a, hn::MulAdd(hn::Set(d, kB2), sum_b, x(5))));
  }
};

// In two dimensions: from load(row, column), down the columns, along the rows, to store(row, column, v).
template <class T, class D, class Load, class Store>
HWY_INLINE void transform(D d, const Load& load, const Store& store) {
  using V = hn::Vec<D>;
  V half[T::kTo][T::kFrom];
  for (int column = 0; column < T::kFrom; ++column) {
    T::apply(
        d, [&](int i) HWY_ATTR { return load(i, column); }, [&](int i, V v) HWY_ATTR { half[i][column] = v; });
  }
  for (int row = 0; row < T::kTo; ++row) {
    T::apply(
        d, [&](int i) HWY_ATTR { return half[row][i]; }, [&](int i, V v) HWY_ATTR { store(row, i, v); });
  }
}

template <class T, class D, class Place, class Read>
HWY_INLINE void tile_to_positions(D d, const Place& from, const Read& read, int block, float* to,
                                  std::int64_t position_stride) {
  using V = hn::Vec<D>;
  const auto store = [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, d, to + (i * T::kTo + j) * position_stride); };
  const std::int64_t pitch = from.width * block;
  const auto* corner = from.plane + from.row * pitch + from.column * block;
  if (from.row >= 0 && from.column >= 0 && from.row + T::kFrom <= from.row_end &&
      from.column + T::kFrom <= from.column_end) {
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

template <class D, class T>
HWY_INLINE void positions_to_tile(D d, const float* from, std::int64_t position_stride, int block,
                                  const WinogradEpilogue& epilogue, const PlaneTile<T>& to) {
  using V = hn::Vec<D>;
  const auto position = [&](int i, int j)
                            HWY_ATTR { return hn::LoadU(d, from + (i * Output::kFrom + j) * position_stride); };
  const auto shift = epilogue.bias != nullptr ? hn::LoadU(d, epilogue.bias) : hn::Zero(d);
  const std::int64_t pitch = to.width * block;
  const std::int64_t rows = to.row_end - to.row, columns = to.column_end - to.column;
  T* corner = to.plane + to.row * pitch + to.column * block;
  transform<Output>(d, position, [&](int i, int j, V v) HWY_ATTR {
    if (i >= rows || j >= columns) return;
    T* place = corner + i * pitch + j * block;
    V result = hn::Add(v, shift);
    if (epilogue.adds) result = hn::Add(result, load(d, place));
    if (epilogue.relu) result = hn::Max(result, hn::Zero(d));
    store<false>(result, d, place);
  });
}

template <class D>
HWY_INLINE void taps_to_positions(D d, const float* taps, std::int64_t tap_stride, float* to,
                                  std::int64_t position_stride) {
  using V = hn::Vec<D>;
  transform<Weights>(
      d, [&](int i, int j) HWY_ATTR { return hn::LoadU(d, taps + (i * 3 + j) * tap_stride); },
      [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, d, to + (i * Weights::kTo + j) * position_stride); });
}

template <class D>
HWY_INLINE void positions_to_taps(D d, const WinogradLanes& from, std::int64_t first, float* taps,
                                  std::int64_t tap_stride) {
  using V = hn::Vec<D>;
  using T = WeightsGradient;
  const auto sum_at = [&](int position) HWY_ATTR {
    const float* at = from.base + position * from.position_stride + first;
    V sum = hn::LoadU(d, at);
    for (std::int64_t lane = 1; lane < from.lanes; ++lane)
      sum = hn::Add(sum, hn::LoadU(d, at + lane * from.lane_stride));
    return sum;
  };
  transform<T>(
      d, [&](int i, int j) HWY_ATTR { return sum_at(i * T::kFrom + j); },
      [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, d, taps + (i * 3 + j) * tap_stride); });
}

template <class Place>
HWY_INLINE Place shifted(Place place, std::int64_t lane) {
  place.plane += lane;
  return place;
}

template <class T>
HWY_INLINE void input_of(const PlaneTile<const T>& from, const TileNorm& norm, int block, float* to,
                         std::int64_t position_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    const auto here = shifted(from, lane);
    const auto plain = [d](const T* at) HWY_ATTR { return load(d, at); };
    if (norm.scale == nullptr) return tile_to_positions<Input>(d, here, plain, block, to + lane, position_stride);
    const auto scale = hn::LoadU(d, norm.scale + lane), shift = hn::LoadU(d, norm.shift + lane);
    const auto least = norm.relu ? hn::Zero(d) : hn::Neg(hn::Inf(d));
    const auto read = [=](const T* at)
                          HWY_ATTR { return as_stored(hn::Max(least, hn::MulAdd(plain(at), scale, shift)), d, at); };
    tile_to_positions<Input>(d, here, read, block, to + lane, position_stride);
  });
}
template <class T>
HWY_INLINE void output_of(const float* from, std::int64_t position_stride, int block, const WinogradEpilogue& epilogue,
                          const PlaneTile<T>& to) {
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
    positions_to_tile(d, from + lane, position_stride, block, here, shifted(to, lane));
  });
}
template <class T>
HWY_INLINE void gradient_of(const PlaneTile<T>& from, int block, float* to, std::int64_t position_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane) HWY_ATTR {
    const auto read = [d](const T* at) HWY_ATTR { return load(d, at); };
    tile_to_positions<Gradient>(d, shifted(from, lane), read, block, to + lane, position_stride);
  });
}

void input_f32(const PlaneTile<const float>& from, const TileNorm& norm, int block, float* to,
               std::int64_t position_stride) {
  input_of(from, norm, block, to, position_stride);
}
void input_bf16(const PlaneTile<const Bf16>& from, const TileNorm& norm, int block, float* to,
                std::int64_t position_stride) {
  input_of(from, norm, block, to, position_stride);
}
void output_f32(const float* from, std::int64_t position_stride, int block, const WinogradEpilogue& epilogue,
                const PlaneTile<float>& to) {
  output_of(from, position_stride, block, epilogue, to);
}
void output_bf16(const float* from, std::int64_t position_stride, int block, const WinogradEpilogue& epilogue,
                 const PlaneTile<Bf16>& to) {
  output_of(from, position_stride, block, epilogue, to);
}
void gradient_f32(const PlaneTile<float>& from, int block, float* to, std::int64_t position_stride) {
  gradient_of(from, block, to, position_stride);
}
void gradient_bf16(const PlaneTile<Bf16>& from, int block, float* to, std::int64_t position_stride) {
  gradient_of(from, block, to, position_stride);
}
void weights_target(const float* taps, std::int64_t tap_stride, int block, float* to, std::int64_t position_stride) {
  for_lanes(block, [&](auto d, std::int64_t lane)
                       HWY_ATTR { taps_to_positions(d, taps + lane, tap_stride, to + lane, position_stride); });
}
void weights_gradient_target(const WinogradLanes& from, int block, float* taps, std::int64_t tap_stride) {
  for_lanes(block,
            [&](auto d, std::int64_t lane) HWY_ATTR { positions_to_taps(d, from, lane, taps + lane, tap_stride); });
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

void winograd_input(const PlaneTile<const float>& from, const TileNorm& norm, int block, float* to,
                    std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(input_f32)(from, norm, block, to, position_stride);
}
void winograd_input(const PlaneTile<const Bf16>& from, const TileNorm& norm, int block, float* to,
                    std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(input_bf16)(from, norm, block, to, position_stride);
}
void winograd_output(const float* from, std::int64_t position_stride, int block, const WinogradEpilogue& epilogue,
                     const PlaneTile<float>& to) {
  HWY_DYNAMIC_DISPATCH(output_f32)(from, position_stride, block, epilogue, to);
}
void winograd_output(const float* from, std::int64_t position_stride, int block, const WinogradEpilogue& epilogue,
                     const PlaneTile<Bf16>& to) {
  HWY_DYNAMIC_DISPATCH(output_bf16)(from, position_stride, block, epilogue, to);
}
void winograd_gradient(const PlaneTile<float>& from, int block, float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(gradient_f32)(from, block, to, position_stride);
}
void winograd_gradient(const PlaneTile<Bf16>& from, int block, float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(gradient_bf16)(from, block, to, position_stride);
}
void winograd_weights(const float* taps, std::int64_t tap_stride, int block, float* to, std::int64_t position_stride) {
  HWY_DYNAMIC_DISPATCH(weights_target)(taps, tap_stride, block, to, position_stride);
}
void winograd_weights_gradient(const WinogradLanes& from, int block, float* taps, std::int64_t tap_stride) {
  HWY_DYNAMIC_DISPATCH(weights_gradient_target)(from, block, taps, tap_stride);
}

}  // namespace roentgen::engine::cpu::simd
#endif
