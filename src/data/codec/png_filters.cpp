// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/png_filters.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "core/error.h"

// Highway's SSE targets are disabled, because they are not worth their compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/codec/png_filters.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace roentgen::data {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

int paeth(int a, int b, int c) {
  const int to_a = std::abs(b - c), to_b = std::abs(a - c), to_c = std::abs(a + b - 2 * c);
  if (to_a <= to_b && to_a <= to_c) return a;
  return to_b <= to_c ? b : c;
}

// Scalar version for machines without AVX2, one byte at a time.
bool undo_rows(const FilteredRows& rows, std::span<const std::uint8_t> above, std::uint8_t* out,
               runtime::AlignedBuffer&) {
  const auto back = static_cast<std::size_t>(rows.pixel_bytes);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const std::uint8_t* filtered = rows.bytes.data() + r * (rows.row_bytes + 1);
    const std::uint8_t filter = filtered[0];
    if (filter > 4) return false;
    for (std::size_t x = 0; x < rows.row_bytes; ++x) {
      const int a = x >= back ? out[x - back] : 0;
      const int b = above.empty() ? 0 : above[x];
      const int c = x >= back && !above.empty() ? above[x - back] : 0;
      const std::array<int, 5> predicted{0, a, b, (a + b) / 2, filter == 4 ? paeth(a, b, c) : 0};
      out[x] = static_cast<std::uint8_t>(filtered[1 + x] + predicted[filter]);
    }
    above = {out, rows.row_bytes};
    out += rows.row_bytes;
  }
  return true;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using Vector = hn::Vec<Bytes>;

constexpr std::size_t kTile = 16;

// Loads a vector of 16-byte blocks; block g comes from source + g * pitch.
HWY_INLINE Vector load_blocks(const std::uint8_t* source, std::size_t pitch) {
  const hn::Full128<std::uint8_t> block;
#if HWY_MAX_BYTES == 16
  static_cast<void>(pitch);
  return hn::LoadU(block, source);
#else
  const hn::Full256<std::uint8_t> pair;
  const auto first = hn::Combine(pair, hn::LoadU(block, source + pitch), hn::LoadU(block, source));
#if HWY_MAX_BYTES == 32
  return first;
#else
  source += 2 * pitch;
  const auto second = hn::Combine(pair, hn::LoadU(block, source + pitch), hn::LoadU(block, source));
  return hn::Combine(Bytes(), second, first);
#endif
#endif
}

// Stores a vector of 16-byte blocks; block g goes to target + g * pitch.
HWY_INLINE void store_blocks(Vector v, std::uint8_t* target, std::size_t pitch) {
  const hn::Full128<std::uint8_t> block;
#if HWY_MAX_BYTES == 16
  static_cast<void>(pitch);
  hn::StoreU(v, block, target);
#else
  const hn::Full256<std::uint8_t> pair;
#if HWY_MAX_BYTES == 32
  const auto first = v;
#else
  const auto first = hn::LowerHalf(pair, v), second = hn::UpperHalf(pair, v);
  hn::StoreU(hn::LowerHalf(block, second), block, target + 2 * pitch);
  hn::StoreU(hn::UpperHalf(block, second), block, target + 3 * pitch);
#endif
  hn::StoreU(hn::LowerHalf(block, first), block, target);
  hn::StoreU(hn::UpperHalf(block, first), block, target + pitch);
#endif
}

// Transposes the 16 x 16 bytes of each block in a[0..15]; a second call undoes it. Rows are as long as a vector: byte
// 16 g + k of row i becomes byte i of block g in a[k]. A round rotates the eight bits of a byte's position by one;
// after four rounds, row and column are swapped.
HWY_INLINE void transpose_blocks(Vector* a) {
  const Bytes u8;
  Vector b[kTile];
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kTile / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(u8, a[i], a[i + kTile / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(u8, a[i], a[i + kTile / 2]);
    }
    for (std::size_t i = 0; i < kTile / 2; ++i) {
      a[2 * i] = hn::InterleaveLower(u8, b[i], b[i + kTile / 2]);
      a[2 * i + 1] = hn::InterleaveUpper(u8, b[i], b[i + kTile / 2]);
    }
  }
}

// Masks that select lanes by their row's filter: 255 in selected lanes, else 0.
struct LaneFilters {
  Vector sub, up, average, paeth;
};

HWY_INLINE Vector paeth(Vector a, Vector b, Vector c) {
  const Bytes u8;
  const auto most = hn::Max(a, b), least = hn::Min(a, b);
  const auto to_a = hn::Sub(hn::Max(b, c), hn::Min(b, c));  // |p - a| where p = a + b - c (Paeth)
  const auto to_b = hn::Sub(hn::Max(a, c), hn::Min(a, c));
  const auto near = hn::Min(to_a, to_b), far = hn::Max(to_a, to_b);
  const auto best = hn::IfThenElse(hn::Eq(near, to_a), a, b);  // a is preferred if distances are equal
  // |p - c| is far - near if c lies between a and b. Otherwise it is near + far, and c is not nearest.
  const auto is_between = hn::Eq(hn::Max(least, hn::Min(most, c)), c);
  const auto is_nearer = hn::Ne(hn::SaturatedSub(near, hn::Sub(far, near)), hn::Zero(u8));
  return hn::IfThenElse(hn::And(is_between, is_nearer), c, best);
}

// Byte of the row above for every lane: lane r gets lane r - 1 of `decoded`, lane 0 gets above[0]. Reads the 15 bytes
// before `above` too.
HWY_INLINE Vector from_above(Vector decoded, const std::uint8_t* above) {
  const Bytes u8;
  const hn::Repartition<std::uint32_t, Bytes> u32;
  using Lanes32 = hn::Vec<decltype(u32)>;
  constexpr std::size_t kMost = HWY_MAX_BYTES / 4;
  alignas(HWY_MAX_BYTES) static constexpr auto kBlockBefore = [] {
    std::array<std::uint32_t, kMost> lanes{};
    for (std::size_t i = 4; i < kMost; ++i) lanes[i] = static_cast<std::uint32_t>(i - 4);
    return lanes;
  }();
  const auto row_above = hn::LoadDup128(u8, above - 15);
  const Lanes32 before = hn::TableLookupLanes(hn::BitCast(u32, decoded), hn::SetTableIndices(u32, kBlockBefore.data()));
  const auto blocks = hn::IfThenElse(hn::FirstN(u8, 16), row_above, hn::BitCast(u8, before));
  return hn::CombineShiftRightBytes<15>(u8, decoded, blocks);
}

// Rows to decode, one per lane. Lane r is r pixels behind lane 0.
struct LaneJob {
  // (steps, lanes) filtered bytes.
  const std::uint8_t* in = nullptr;
  // Row above the first, one byte per step, laid out as from_above() expects.
  const std::uint8_t* above = nullptr;
  std::size_t steps = 0;
  // (steps, lanes) decoded bytes.
  std::uint8_t* out = nullptr;
};

template <int PixelBytes, bool HasPaeth>
void undo_lanes(const LaneJob& job, const LaneFilters& filters) {
  const Bytes u8;
  const std::size_t lanes = hn::Lanes(u8);
  const auto one = hn::Set(u8, 1);
  Vector left[PixelBytes], up_left[PixelBytes];
  for (int k = 0; k < PixelBytes; ++k) left[k] = up_left[k] = hn::Zero(u8);
  for (std::size_t t = 0; t < job.steps; t += PixelBytes) {
    for (int k = 0; k < PixelBytes; ++k) {
      const std::size_t at = t + static_cast<std::size_t>(k);
      const auto up = from_above(left[k], job.above + at);
      const auto average = hn::Sub(hn::AverageRound(left[k], up), hn::And(hn::Xor(left[k], up), one));
      auto predicted =
          hn::Or(hn::Or(hn::And(filters.sub, left[k]), hn::And(filters.up, up)), hn::And(filters.average, average));
      if constexpr (HasPaeth) {
        predicted = hn::Or(predicted, hn::And(filters.paeth, paeth(left[k], up, up_left[k])));
      }
      up_left[k] = up;
      left[k] = hn::Add(hn::LoadU(u8, job.in + at * lanes), predicted);
      hn::StoreU(left[k], u8, job.out + at * lanes);
    }
  }
}

template <bool HasPaeth>
void undo_lanes_of(int pixel_bytes, const LaneJob& job, const LaneFilters& filters) {
  switch (pixel_bytes) {
    case 1:
      return undo_lanes<1, HasPaeth>(job, filters);
    case 2:
      return undo_lanes<2, HasPaeth>(job, filters);
    case 3:
      return undo_lanes<3, HasPaeth>(job, filters);
    case 4:
      return undo_lanes<4, HasPaeth>(job, filters);
    case 6:
      return undo_lanes<6, HasPaeth>(job, filters);
    default:
      return undo_lanes<8, HasPaeth>(job, filters);
  }
}

// Buffers of undo_row_filters() for a block of as many rows as there are lanes.
class BlockUndo {
 public:
  BlockUndo(const FilteredRows& rows, runtime::AlignedBuffer& scratch)
      : row_bytes_(rows.row_bytes), pixel_bytes_(static_cast<std::size_t>(rows.pixel_bytes)) {
    lanes_ = hn::Lanes(Bytes());
    const std::size_t last = row_bytes_ + pixel_bytes_ * (lanes_ - 1);
    tiled_steps_ = (last + lanes_ - 1) / lanes_ * lanes_;
    steps_ = (last + pixel_bytes_ - 1) / pixel_bytes_ * pixel_bytes_;
    const std::size_t plane = (std::max(tiled_steps_, steps_)) * lanes_;
    const std::size_t bytes = 2 * plane + steps_ + kTile;
    if (scratch.size() < bytes) scratch = runtime::AlignedBuffer(bytes);
    in_ = reinterpret_cast<std::uint8_t*>(scratch.bytes().data());
    out_ = in_ + plane;
    above_ = out_ + plane;
  }
  [[nodiscard]] std::size_t lanes() const { return lanes_; }

  // Undoes the filters of a block of rows, at most as many as there are lanes.
  bool undo(std::span<const std::uint8_t> filtered, std::span<const std::uint8_t> above, std::uint8_t* out) {
    const std::size_t rows = filtered.size() / (row_bytes_ + 1);
    LaneFilters filters;
    bool has_paeth = false;
    if (!read_filters(filtered, rows, filters, has_paeth)) return false;
    fill_above(above);
    skew(filtered, rows);
    const auto run = has_paeth ? undo_lanes_of<true> : undo_lanes_of<false>;
    run(static_cast<int>(pixel_bytes_), {.in = in_, .above = above_ + kTile, .steps = steps_, .out = out_}, filters);
    straighten(rows, out);
    return true;
  }

 private:
  bool read_filters(std::span<const std::uint8_t> filtered, std::size_t rows, LaneFilters& filters,
                    bool& has_paeth) const {
    std::array<std::array<std::uint8_t, HWY_MAX_BYTES>, 5> lanes{};
    for (std::size_t r = 0; r < rows; ++r) {
      const std::uint8_t filter = filtered[r * (row_bytes_ + 1)];
      if (filter > 4) return false;
      lanes[filter][r] = 255;
      has_paeth = has_paeth || filter == 4;
    }
    const Bytes u8;
    filters = {.sub = hn::LoadU(u8, lanes[1].data()),
               .up = hn::LoadU(u8, lanes[2].data()),
               .average = hn::LoadU(u8, lanes[3].data()),
               .paeth = hn::LoadU(u8, lanes[4].data())};
    return true;
  }

  void fill_above(std::span<const std::uint8_t> above) {
    std::memset(above_, 0, kTile);
    std::copy(above.begin(), above.end(), above_ + kTile);
    std::memset(above_ + kTile + above.size(), 0, steps_ - above.size());
  }

  // Part of lane r's row in the `lanes_` steps from step t0. The part has `bytes` bytes. It begins at step t0 +
  // `first`, with byte `place` of the row.
  struct Part {
    std::size_t first = 0;
    std::size_t place = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Part part(std::size_t t0, std::size_t r) const {
    const std::size_t start = r * pixel_bytes_, end = start + row_bytes_;
    const std::size_t from = std::clamp(start, t0, t0 + lanes_), to = std::clamp(end, t0, t0 + lanes_);
    return {.first = from - t0, .place = from - std::min(start, from), .bytes = to - from};
  }
  // True if each of the 16 lanes from r0 has a byte at all `lanes_` steps from t0.
  [[nodiscard]] bool is_inside(std::size_t t0, std::size_t r0, std::size_t rows) const {
    return r0 + kTile <= rows && t0 >= pixel_bytes_ * (r0 + kTile - 1) && t0 + lanes_ <= row_bytes_ + pixel_bytes_ * r0;
  }

  // Skews the rows: in_[t][r] = byte t - r * pixel of row r, 0 beyond its ends and below the last row.
  void skew(std::span<const std::uint8_t> filtered, std::size_t rows) {
    const Bytes u8;
    const std::uint8_t* first_row = filtered.data() + 1;
    std::array<std::uint8_t, kTile * HWY_MAX_BYTES> edge;
    for (std::size_t r0 = 0; r0 < lanes_; r0 += kTile) {
      for (std::size_t t0 = 0; t0 < tiled_steps_; t0 += lanes_) {
        const std::uint8_t* source = first_row + r0 * (row_bytes_ + 1) + (t0 - std::min(t0, r0 * pixel_bytes_));
        // Distance between the sources of adjacent lanes: one row further and one pixel back.
        std::size_t pitch = row_bytes_ + 1 - pixel_bytes_;
        if (!is_inside(t0, r0, rows)) {
          edge.fill(0);
          for (std::size_t r = r0; r < std::min(r0 + kTile, rows); ++r) {
            const auto [first, place, bytes] = part(t0, r);
            std::memcpy(edge.data() + (r - r0) * lanes_ + first, first_row + r * (row_bytes_ + 1) + place, bytes);
          }
          source = edge.data();
          pitch = lanes_;
        }
        Vector tile[kTile];
        for (std::size_t i = 0; i < kTile; ++i) tile[i] = hn::LoadU(u8, source + i * pitch);
        transpose_blocks(tile);
        for (std::size_t k = 0; k < kTile; ++k) store_blocks(tile[k], in_ + (t0 + k) * lanes_ + r0, kTile * lanes_);
      }
    }
  }

  // Copies the rows from out_ to `out`, one after another.
  void straighten(std::size_t rows, std::uint8_t* out) const {
    const Bytes u8;
    std::array<std::uint8_t, kTile * HWY_MAX_BYTES> edge;
    for (std::size_t r0 = 0; r0 < rows; r0 += kTile) {
      for (std::size_t t0 = 0; t0 < tiled_steps_; t0 += lanes_) {
        Vector tile[kTile];
        for (std::size_t k = 0; k < kTile; ++k) tile[k] = load_blocks(out_ + (t0 + k) * lanes_ + r0, kTile * lanes_);
        transpose_blocks(tile);
        const bool inside = is_inside(t0, r0, rows);
        std::uint8_t* target = inside ? out + r0 * row_bytes_ + (t0 - std::min(t0, r0 * pixel_bytes_)) : edge.data();
        const std::size_t pitch = inside ? row_bytes_ - pixel_bytes_ : lanes_;
        for (std::size_t i = 0; i < kTile; ++i) hn::StoreU(tile[i], u8, target + i * pitch);
        for (std::size_t r = r0; r < std::min(r0 + kTile, rows) && !inside; ++r) {
          const auto [first, place, bytes] = part(t0, r);
          std::memcpy(out + r * row_bytes_ + place, edge.data() + (r - r0) * lanes_ + first, bytes);
        }
      }
    }
  }

  std::size_t row_bytes_;
  std::size_t pixel_bytes_;
  std::size_t lanes_ = 0;
  // Number of steps up to the last byte of the last lane, rounded up to whole pixels (`steps_`) and whole tiles.
  std::size_t steps_ = 0;
  std::size_t tiled_steps_ = 0;
  // (steps, lanes) filtered and decoded bytes.
  std::uint8_t* in_ = nullptr;
  std::uint8_t* out_ = nullptr;
  // (16 + steps) 16 zeros, the row above, and zeros.
  std::uint8_t* above_ = nullptr;
};

bool undo_rows(const FilteredRows& rows, std::span<const std::uint8_t> above, std::uint8_t* out,
               runtime::AlignedBuffer& scratch) {
  BlockUndo block(rows, scratch);
  const std::size_t stride = rows.row_bytes + 1;
  for (std::size_t first = 0; first < rows.rows(); first += block.lanes()) {
    const std::size_t count = std::min(block.lanes(), rows.rows() - first);
    if (!block.undo(rows.bytes.subspan(first * stride, count * stride), above, out + first * rows.row_bytes))
      return false;
    above = {out + (first + count - 1) * rows.row_bytes, rows.row_bytes};
  }
  return true;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace roentgen::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::data {

HWY_EXPORT(undo_rows);

bool undo_row_filters(const FilteredRows& rows, std::span<const std::uint8_t> above, std::span<std::uint8_t> out,
                      runtime::AlignedBuffer& scratch) {
  RG_ASSERT(rows.row_bytes > 0 && rows.bytes.size() % (rows.row_bytes + 1) == 0);
  RG_ASSERT(out.size() == rows.rows() * rows.row_bytes && (above.empty() || above.size() == rows.row_bytes));
  return HWY_DYNAMIC_DISPATCH(undo_rows)(rows, above, out.data(), scratch);
}

}  // namespace roentgen::data
#endif  // HWY_ONCE
