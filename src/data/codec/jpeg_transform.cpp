// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/jpeg_transform.h"

#include <array>

// Highway's SSE targets are disabled, because they are not worth their compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/codec/jpeg_transform.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace roentgen::data {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes32 = hn::CappedTag<std::int32_t, JpegScan::kMostLanes>;

// Scaling exponent of one pass of libjpeg's reduced inverse DCT (jidctred.c): results are multiplied by 2^kPassBits<N>.
// V is an integer of 32 bits that wraps around, or a vector of them.
template <int N>
inline constexpr int kPassBits = N == 2 ? 15 : 14;

template <typename V, typename Inputs, typename Constant>
HWY_INLINE std::array<V, 2> reduced_pass(Inputs x, Constant constant, std::array<V, 2> /*form*/) {
  const V even = x(0) * constant(1 << kPassBits<2>);
  const V odd = x(1) * constant(29692) + x(3) * constant(-10426) + x(5) * constant(6967) + x(7) * constant(-5906);
  return {even + odd, even - odd};
}
template <typename V, typename Inputs, typename Constant>
HWY_INLINE std::array<V, 4> reduced_pass(Inputs x, Constant constant, std::array<V, 4> /*form*/) {
  const V x1 = x(1), x3 = x(3), x5 = x(5), x7 = x(7);
  const V mean = x(0) * constant(1 << kPassBits<4>);
  const V slope = x(2) * constant(15137) + x(6) * constant(-6270);
  const V outer = x1 * constant(20995) + x3 * constant(7373) + x5 * constant(-4926) + x7 * constant(-4176);
  const V inner = x1 * constant(8697) + x3 * constant(-17799) + x5 * constant(11893) + x7 * constant(-1730);
  return {mean + slope + outer, mean - slope + inner, mean - slope - inner, mean + slope - outer};
}

HWY_INLINE hn::Vec<Lanes32> level_of(hn::Vec<Lanes32> value) {
  const Lanes32 i32;
  return hn::Min(hn::Max(hn::Add(value, hn::Set(i32, 128)), hn::Zero(i32)), hn::Set(i32, 255));
}

// Stores N levels of each block side by side; `out` is aligned to N.
template <int N>
HWY_INLINE void store_levels(const std::array<hn::Vec<Lanes32>, N>& levels, std::uint8_t* out) {
  if constexpr (N == 1) {
    const hn::Rebind<std::uint8_t, Lanes32> u8;
    hn::StoreU(hn::DemoteTo(u8, levels[0]), u8, out);
  } else if constexpr (N == 2) {
    const hn::Rebind<std::uint16_t, Lanes32> u16;
    const auto pairs = hn::Or(levels[0], hn::ShiftLeft<8>(levels[1]));
    hn::StoreU(hn::DemoteTo(u16, pairs), u16, reinterpret_cast<std::uint16_t*>(out));
  } else {
    const auto low = hn::Or(levels[0], hn::ShiftLeft<8>(levels[1]));
    const auto high = hn::Or(levels[2], hn::ShiftLeft<8>(levels[3]));
    hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), Lanes32(), reinterpret_cast<std::int32_t*>(out));
  }
}

// Index of a row of coefficients among the rows that used_rows() returns.
template <int N>
constexpr std::size_t used_row(std::size_t k) {
  if (N == 2) return (k + 1) / 2;
  return k > 4 ? k - 1 : k;
}

// One coefficient of as many blocks as a vector has lanes, dequantised, in 32 bits.
struct Coefficients {
  const JpegScan* scan;
  const std::int16_t* first;

  [[nodiscard]] HWY_INLINE hn::Vec<Lanes32> operator()(std::size_t number) const {
    const Lanes32 i32;
    const hn::Rebind<std::int16_t, Lanes32> i16;
    const auto stored = hn::LoadU(i16, first + static_cast<std::ptrdiff_t>(number) * scan->stride);
    return hn::Mul(hn::PromoteTo(i32, stored), hn::Set(i32, scan->quantisation[number]));
  }
};

// Transforms the columns of the blocks and then the rows to N x N levels, as libjpeg's passes do.
template <int N>
HWY_INLINE void transform(const Coefficients& coefficients, std::uint8_t* out, std::int64_t out_stride) {
  constexpr std::size_t kUsed = N == 2 ? 5 : 7;
  constexpr int kBetweenBits = 2;
  constexpr int kFirstShift = kPassBits<N> - kBetweenBits;
  constexpr int kLastShift = kPassBits<N> + kBetweenBits + 3;
  using Vector = hn::Vec<Lanes32>;
  const Lanes32 i32;
  const auto constant = [](int number) HWY_ATTR { return hn::Set(Lanes32(), number); };
  std::array<std::array<Vector, kUsed>, N> between;
  for (std::size_t column = 0; column < kUsed; ++column) {
    const auto input = [&](std::size_t k) HWY_ATTR { return coefficients(used_row<N>(k) * kUsed + column); };
    const auto sums = reduced_pass(input, constant, std::array<Vector, N>());
    for (std::size_t i = 0; i < N; ++i) {
      const auto rounded = hn::Add(sums[i], hn::Set(i32, 1 << (kFirstShift - 1)));
      between[i][column] = hn::ShiftRight<kFirstShift>(rounded);
    }
  }
  for (std::size_t row = 0; row < N; ++row) {
    const auto input = [&](std::size_t k) HWY_ATTR { return between[row][used_row<N>(k)]; };
    auto sums = reduced_pass(input, constant, std::array<Vector, N>());
    for (std::size_t i = 0; i < N; ++i) {
      const auto rounded = hn::Add(sums[i], hn::Set(i32, 1 << (kLastShift - 1)));
      sums[i] = level_of(hn::ShiftRight<kLastShift>(rounded));
    }
    store_levels<N>(sums, out + static_cast<std::ptrdiff_t>(row) * out_stride);
  }
}
template <>
HWY_INLINE void transform<1>(const Coefficients& coefficients, std::uint8_t* out, std::int64_t /*out_stride*/) {
  const auto rounded = hn::Add(coefficients(0), hn::Set(Lanes32(), 4));
  store_levels<1>({level_of(hn::ShiftRight<3>(rounded))}, out);
}

// Writes the needed blocks of a row of units.
template <int N>
void write_row(const JpegScan& scan, std::int64_t unit_y) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Lanes32()));
  for (std::int64_t i = 0; i < scan.plane_rows; ++i) {
    const std::int64_t y = unit_y * scan.plane_rows + i - scan.first_row;
    if (y < 0 || y >= scan.rows) continue;
    const std::int16_t* first = scan.blocks.data() + i * scan.pitch + scan.first_column;
    std::uint8_t* out = scan.out.data() + y * N * scan.out_stride;
    for (std::int64_t x = 0; x < scan.columns; x += lanes) {
      transform<N>(Coefficients{&scan, first + x}, out + x * N, scan.out_stride);
    }
  }
}

void transform_row(const JpegScan& scan, std::int64_t unit_y) {
  if (scan.size == 4) return write_row<4>(scan, unit_y);
  return scan.size == 2 ? write_row<2>(scan, unit_y) : write_row<1>(scan, unit_y);
}

}  // namespace HWY_NAMESPACE
}  // namespace roentgen::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::data {

HWY_EXPORT(transform_row);

void transform_jpeg_row(const JpegScan& scan, std::int64_t unit_y) {
  HWY_DYNAMIC_DISPATCH(transform_row)(scan, unit_y);
}

}  // namespace roentgen::data
#endif
