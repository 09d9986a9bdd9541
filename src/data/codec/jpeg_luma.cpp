// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/jpeg_luma.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "data/codec/jpeg_baseline.h"

// Two steps between scalar and AVX2 are not worth their compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/codec/jpeg_luma.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "data/codec/jpeg_scan.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::data {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes32 = hn::CappedTag<std::int32_t, 8>;

// The next bits of a segment, at the upper end of `buffer`.
struct Bits {
  const std::uint8_t* at;
  const std::uint8_t* limit;
  std::uint64_t buffer = 0;
  int count = 0;
  bool is_over = false;

  // At least 56 bits, zeros beyond the data.
  HWY_INLINE void refill() {
    if (HWY_UNLIKELY(at > limit)) {
      is_over = true;
      at = limit;
    }
    std::uint64_t next = 0;
    std::memcpy(&next, at, sizeof next);
    buffer |= __builtin_bswap64(next) >> count;
    at += (63 - count) >> 3;
    count |= 56;
  }
  [[nodiscard]] HWY_INLINE std::uint32_t peek(int bits) const {
    return static_cast<std::uint32_t>(buffer >> (64 - bits));
  }
  HWY_INLINE void drop(int bits) {
    buffer <<= bits;
    count -= bits;
  }
};

// A code, or a value, that is longer than what is looked up at once.
template <JpegBand band>
bool next_slow(Bits& bits, const JpegCode& code, JpegCode::Whole& out) {
  const std::uint32_t head = bits.peek(JpegCode::kMostBits);
  int length = 1;
  while (length <= JpegCode::kMostBits && head >= code.end[static_cast<std::size_t>(length)]) ++length;
  if (length > JpegCode::kMostBits) return false;
  const int index = static_cast<int>(bits.peek(length)) + code.offset[static_cast<std::size_t>(length)];
  const int symbol = code.symbols[static_cast<std::size_t>(index & 255)];
  bits.drop(length);
  const int size = band == JpegBand::Dc ? symbol : symbol & 15;
  const int run = band == JpegBand::Dc ? 0 : symbol >> 4;
  out.skip = static_cast<std::uint8_t>(symbol == 0 && band == JpegBand::Ac ? JpegCode::kEndOfBlock : run + 1);
  out.value = 0;
  if (size == 0) return true;
  const int value = static_cast<int>(bits.peek(size));
  bits.drop(size);
  out.value = static_cast<std::int16_t>(value < 1 << (size - 1) ? value - (1 << size) + 1 : value);
  return true;
}

// Reads a block's coefficients; those beyond its end go to its element kBeyond. Two symbols are at most 2 x 26 bits, of
// DC at most 27, so 56 are enough for two lookups of one symbol each.
HWY_INLINE bool read_block(Bits& all_bits, const JpegScan::Plane& plane, std::uint32_t& dc, std::int16_t* block) {
  Bits bits = all_bits;  // nobody has its address, so it stays in registers
  // Bits are looked up before more are fetched, so that the one need not wait for the other: there are 29 at least.
  JpegCode::Whole item = plane.dc->whole[bits.peek(JpegCode::kLookBits)];
  bits.refill();
  if (HWY_LIKELY(item.bits != 0)) {
    bits.drop(item.bits);
  } else {
    all_bits = bits;
    if (!next_slow<JpegBand::Dc>(all_bits, *plane.dc, item)) return false;
    bits = all_bits;
  }
  dc += static_cast<std::uint32_t>(item.value);
  block[0] = static_cast<std::int16_t>(dc);
  const std::uint8_t* place = jpeg_places().data() - 1;
  const JpegCode::Two* const table = plane.ac->two.data();
  std::size_t k = 1;
  while (true) {
    const JpegCode::Two two = table[bits.peek(JpegCode::kLookBits)];
    bits.refill();
    if (HWY_LIKELY(two.first.bits != 0)) {
      const std::size_t first = k + two.first.skip;
      k += two.both.skip;
      block[place[first]] = two.first.value;
      block[place[k]] = two.both.value;
      if (HWY_UNLIKELY(first - 64 < 64)) {  // the last one of 64: what follows is another block's; or one too many
        bits.drop(two.first.bits);
        k = first;
        break;
      }
      bits.drop(two.both.bits);
    } else {
      all_bits = bits;
      if (!next_slow<JpegBand::Ac>(all_bits, *plane.ac, item)) return false;
      bits = all_bits;
      k += item.skip;
      block[place[k]] = item.value;
    }
    if (k >= 64) break;
  }
  all_bits = bits;
  block[JpegScan::kHasMore] = static_cast<std::int16_t>(k != 1 + JpegCode::kEndOfBlock);
  return k == 64 || k >= JpegCode::kEndOfBlock;
}

HWY_INLINE std::uint8_t level_of(std::int32_t value) {
  return static_cast<std::uint8_t>(std::clamp(value + 128, 0, 255));
}

// One pass of libjpeg's reduced inverse DCT (jidctred.c), times 2 to the power of kPassBits<N>. V: 32 bits that wrap
// around, or a vector of such.
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

// Columns of the block, then rows: N x N levels.
template <int N>
void transform(const std::int16_t* block, const std::array<std::int32_t, 64>& quantisation, std::uint8_t* out,
               std::size_t stride) {
  constexpr int kBetweenBits = 2;
  constexpr int kFirstShift = kPassBits<N> - kBetweenBits;
  constexpr int kLastShift = kPassBits<N> + kBetweenBits + 3;
  const Lanes32 i32;
  const hn::Rebind<std::int16_t, Lanes32> i16;
  using Vector = hn::Vec<Lanes32>;
  alignas(32) std::array<std::array<std::int32_t, 8>, N> between;
  for (std::size_t c = 0; c < 8; c += hn::Lanes(i32)) {
    const auto input = [&](std::size_t k) HWY_ATTR {
      return hn::Mul(hn::PromoteTo(i32, hn::LoadU(i16, block + 8 * k + c)),
                     hn::LoadU(i32, quantisation.data() + 8 * k + c));
    };
    const auto constant = [&](int number) HWY_ATTR { return hn::Set(i32, number); };
    const auto sums = reduced_pass(input, constant, std::array<Vector, N>());
    for (std::size_t i = 0; i < N; ++i) {
      const auto rounded = hn::Add(sums[i], hn::Set(i32, 1 << (kFirstShift - 1)));
      hn::StoreU(hn::ShiftRight<kFirstShift>(rounded), i32, between[i].data() + c);
    }
  }
  for (std::size_t row = 0; row < N; ++row) {
    const auto input = [&](std::size_t k) { return static_cast<std::uint32_t>(between[row][k]); };
    const auto constant = [](int number) { return static_cast<std::uint32_t>(number); };
    const auto sums = reduced_pass(input, constant, std::array<std::uint32_t, N>());
    for (std::size_t i = 0; i < N; ++i) {
      out[row * stride + i] = level_of(static_cast<std::int32_t>(sums[i] + (1U << (kLastShift - 1))) >> kLastShift);
    }
  }
}

// What libjpeg's passes make of a block without AC.
HWY_INLINE std::uint8_t mean_of(const std::int16_t* block, const JpegScan& scan) {
  const auto value = static_cast<std::uint32_t>(block[0]) * static_cast<std::uint32_t>(scan.quantisation[0]);
  return level_of(static_cast<std::int32_t>(value + 4) >> 3);
}

// The blocks of a row of units that are wanted. They were read before: a block's bytes are stored one coefficient at a
// time, and loading them as vectors right away would wait for each.
template <int N>
void write_row(const JpegScan& scan, std::int64_t unit_y) {
  const JpegScan::Plane& plane = scan.planes[0];
  const std::int64_t pitch = scan.unit_columns * plane.columns;
  const auto stride = static_cast<std::size_t>(scan.columns * N);
  for (std::int64_t i = 0; i < plane.rows; ++i) {
    const std::int64_t y = unit_y * plane.rows + i - scan.first_row;
    if (y < 0 || y >= scan.rows) continue;
    const std::int16_t* block =
        scan.blocks.data() + static_cast<std::size_t>(i * pitch + scan.first_column) * JpegScan::kBlock;
    std::uint8_t* out = scan.out.data() + static_cast<std::size_t>(y * N) * stride;
    for (std::int64_t x = 0; x < scan.columns; ++x, block += JpegScan::kBlock, out += N) {
      if constexpr (N > 1) {
        if (block[JpegScan::kHasMore] != 0) {
          transform<N>(block, scan.quantisation, out, stride);
          continue;
        }
      }
      const std::uint8_t level = mean_of(block, scan);
      for (std::size_t row = 0; row < N; ++row) std::fill_n(out + row * stride, N, level);
    }
  }
}

// Blocks of one unit (MCU) into the row's.
HWY_INLINE bool read_unit(Bits& bits, const JpegScan& scan, std::span<std::uint32_t> dc, std::int64_t unit_x) {
  std::array<std::int16_t, JpegScan::kBlock> other;
  for (std::size_t p = 0; p < scan.planes.size(); ++p) {
    const JpegScan::Plane& plane = scan.planes[p];
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t column = 0; column < plane.columns; ++column) {
        const std::int64_t at = (row * scan.unit_columns + unit_x) * plane.columns + column;
        std::int16_t* block =
            p > 0 ? other.data() : scan.blocks.data() + static_cast<std::size_t>(at) * JpegScan::kBlock;
        if (!read_block(bits, plane, dc[p], block)) return false;
      }
    }
  }
  return true;
}

template <int N>
bool read_scan(const JpegScan& scan) {
  std::array<std::uint32_t, 3> dc{};
  std::int64_t unit = 0, x = 0, y = 0;
  const std::int64_t units = scan.unit_columns * scan.unit_rows;
  for (const JpegScan::Segment& segment : scan.segments) {
    const std::uint8_t* begin = scan.bytes.data() + segment.begin;
    // Padding behind every segment has room for what is read ahead.
    Bits bits{.at = begin, .limit = begin + segment.length + 8};
    bits.refill();
    dc.fill(0);
    const std::int64_t end = scan.restart_units > 0 ? std::min(units, unit + scan.restart_units) : units;
    for (; unit < end && !bits.is_over; ++unit) {
      if (x == 0) std::ranges::fill(scan.blocks, std::int16_t{0});
      if (!read_unit(bits, scan, dc, x)) return false;
      if (++x < scan.unit_columns) continue;
      write_row<N>(scan, y++);
      x = 0;
    }
    const auto used_bits = 8 * (bits.at - begin) - bits.count;
    const auto there_bits = 8 * static_cast<std::ptrdiff_t>(segment.length);
    if (bits.is_over || used_bits > there_bits || used_bits + 8 <= there_bits) return false;
  }
  return unit == units;
}

bool read_scan_1(const JpegScan& scan) { return read_scan<1>(scan); }
bool read_scan_2(const JpegScan& scan) { return read_scan<2>(scan); }
bool read_scan_4(const JpegScan& scan) { return read_scan<4>(scan); }

}  // namespace HWY_NAMESPACE
}  // namespace roentgen::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::data {
namespace {

HWY_EXPORT(read_scan_1);
HWY_EXPORT(read_scan_2);
HWY_EXPORT(read_scan_4);

}  // namespace

bool decode_reduced_luma(std::span<const std::byte> file, const ImageNeed& need, DecodeScratch& scratch, Image& out) {
  RG_ASSERT(need.reduction == 2 || need.reduction == 4 || need.reduction == 8);
  const auto jpeg = read_baseline_jpeg(file);
  if (!jpeg) return false;
  JpegScan scan;
  if (!plan_jpeg_scan(*jpeg, need, scratch, scan)) return false;
  const int size = 8 / need.reduction;
  const std::size_t row_bytes = scan.row_samples() * sizeof(std::int16_t);
  scan.blocks = {reinterpret_cast<std::int16_t*>(grown(scratch.filtered, row_bytes).data()), scan.row_samples()};
  scan.out = {reinterpret_cast<std::uint8_t*>(grown(scratch.lanes, scan.out_bytes(size)).data()), scan.out_bytes(size)};
  const bool is_clean = need.reduction == 2   ? HWY_DYNAMIC_DISPATCH(read_scan_4)(scan)
                        : need.reduction == 4 ? HWY_DYNAMIC_DISPATCH(read_scan_2)(scan)
                                              : HWY_DYNAMIC_DISPATCH(read_scan_1)(scan);
  if (is_clean) show_jpeg_part(*jpeg, need, scan, out);
  return is_clean;
}

}  // namespace roentgen::data
#endif
