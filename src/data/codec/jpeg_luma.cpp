// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/jpeg_luma.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "data/codec/jpeg_baseline.h"

// Highway's SSE targets are disabled, because they are not worth their compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/codec/jpeg_luma.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "data/codec/jpeg_scan.h"
#include "data/codec/jpeg_transform.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::data {
namespace HWY_NAMESPACE {

// Bit reader of a segment; the next bits are at the most significant end of `buffer`.
struct Bits {
  const std::uint8_t* at;
  const std::uint8_t* limit;
  std::uint64_t buffer = 0;
  int count = 0;
  bool is_over = false;

  // Loads until there are at least 56 bits; zeros beyond the end of the data.
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

// Reads the value of a symbol of `size` >= 1 bits. It is negative if its first bit is 0 (ITU-T T.81, F.2.2.1, EXTEND).
HWY_INLINE std::int16_t next_value(Bits& bits, int size) {
  const std::int32_t is_negative = static_cast<std::int32_t>(bits.peek(1)) - 1;  // -1 if negative, else 0
  const auto number = static_cast<std::int32_t>(bits.peek(size));
  bits.drop(size);
  return static_cast<std::int16_t>(number + (is_negative & (1 - (1 << size))));
}

// Reads one symbol of any length, at most 26 bits. The result's `bits` is 0 if the code is invalid.
HWY_INLINE JpegCode::Whole next_symbol(Bits& bits, const JpegCode& code, JpegBand band) {
  JpegCode::Whole out = code.whole[bits.peek(JpegCode::kLookBits)];
  int length = out.bits, symbol = out.value;
  if (out.skip != 0) {
    bits.drop(length);
    return out;
  }
  if (length == 0) {
    const std::uint32_t head = bits.peek(JpegCode::kMostBits);
    length = JpegCode::kLookBits + 1;
    while (length <= JpegCode::kMostBits && head >= code.end[static_cast<std::size_t>(length)]) ++length;
    if (length > JpegCode::kMostBits) return out;
    const int index = static_cast<int>(bits.peek(length)) + code.offset[static_cast<std::size_t>(length)];
    symbol = code.symbols[static_cast<std::size_t>(index & 255)];
  }
  bits.drop(length);
  const int size = symbol & 15;  // a DC symbol has no run
  out.bits = static_cast<std::uint8_t>(length + size);
  out.skip = static_cast<std::uint8_t>(symbol == 0 && band == JpegBand::Ac ? JpegCode::kEndOfBlock : (symbol >> 4) + 1);
  out.value = size == 0 ? std::int16_t{0} : next_value(bits, size);
  return out;
}

// Number of coefficients after the first of a block (kAllBehind), and a larger number (kOver) that a step returns if it
// completes the block.
constexpr std::int64_t kAllBehind = JpegScan::kCoefficients - 1;
constexpr std::int64_t kOver = kAllBehind + 1;

// Reads a symbol that the step table cannot resolve: a long code, or the last coefficient of a block. Returns -1 for an
// invalid code.
HWY_NOINLINE std::int64_t step_slowly(Bits& bits, const JpegScan& scan, const JpegScan::Plane& plane,
                                      std::int16_t* block, std::int64_t behind) {
  bits.refill();
  const JpegCode::Whole symbol =
      behind == kAllBehind ? next_symbol(bits, *plane.dc, JpegBand::Dc) : next_symbol(bits, *plane.ac, JpegBand::Ac);
  bits.refill();
  if (symbol.bits == 0) return -1;
  if (symbol.skip == JpegCode::kEndOfBlock) return kOver;
  const std::int64_t left = behind - symbol.skip;
  if (left < -1) return -1;
  block[scan.places[static_cast<std::size_t>(left < 0 ? kAllBehind : left)]] = symbol.value;
  return left < 0 ? kOver : left;
}

// Output position for a one-component scan, whose blocks are adjacent. Uses no branch that depends on where a block
// ends, because the CPU could not predict it.
class BlocksInTurn {
 public:
  BlocksInTurn(const JpegScan& scan, std::int64_t from, std::int64_t to)
      : plane_(scan.planes.data()),
        steps_(plane_->steps.data() + JpegScan::kSteps),
        block_(scan.blocks.data() + from),
        end_(scan.blocks.data() + to) {}
  [[nodiscard]] HWY_INLINE const JpegScan::Plane& plane() const { return *plane_; }
  [[nodiscard]] HWY_INLINE const JpegStep* steps() const { return steps_; }
  [[nodiscard]] HWY_INLINE std::int16_t* block() const { return block_; }
  [[nodiscard]] HWY_INLINE bool is_over() const { return block_ == end_; }
  // Selects the table for the next step. `skip` is negative if the block has ended (all bits above the seventh are the
  // sign).
  HWY_INLINE void choose_steps(std::int64_t skip) {
    constexpr std::int64_t kTable = JpegScan::kSteps * std::int64_t{sizeof(JpegStep)};
    steps_ = reinterpret_cast<const JpegStep*>(reinterpret_cast<const char*>(plane_->steps.data()) + (skip & kTable));
  }
  HWY_INLINE void go_on(std::int64_t ended_blocks) { block_ += ended_blocks; }

 private:
  const JpegScan::Plane* plane_;
  const JpegStep* steps_;
  std::int16_t* block_;
  std::int16_t* end_;
};

// Output position for a scan of several components, whose units contain blocks of each.
class BlocksOfUnits {
 public:
  BlocksOfUnits(const JpegScan& scan, std::int64_t from, std::int64_t to) : scan_(&scan), unit_(from), end_(to) {
    enter();
  }
  [[nodiscard]] HWY_INLINE const JpegScan::Plane& plane() const { return *plane_; }
  [[nodiscard]] HWY_INLINE const JpegStep* steps() const { return steps_; }
  [[nodiscard]] HWY_INLINE std::int16_t* block() const { return block_; }
  [[nodiscard]] HWY_INLINE bool is_over() const { return unit_ == end_; }
  HWY_INLINE void choose_steps(std::int64_t /*skip*/) { steps_ = plane_->steps.data(); }
  HWY_INLINE void go_on(std::int64_t ended_blocks) {
    if (ended_blocks == 0) return;
    if (++slot_ == scan_->slots.size()) {
      slot_ = 0;
      ++unit_;
    }
    enter();
  }

 private:
  HWY_INLINE void enter() {
    const JpegScan::Slot& slot = scan_->slots[slot_];
    plane_ = scan_->planes.data() + slot.plane;
    steps_ = plane_->steps.data() + JpegScan::kSteps;
    block_ = scan_->blocks.data() + slot.at + unit_ * slot.pitch;
  }

  const JpegScan* scan_;
  const JpegScan::Plane* plane_ = nullptr;
  const JpegStep* steps_ = nullptr;
  std::int16_t* block_ = nullptr;
  std::int64_t unit_;
  std::int64_t end_;
  std::size_t slot_ = 0;
};

// Reads all of `blocks`, and leaves the DC coefficients as differences. Returns false if the data are damaged.
template <typename Blocks>
HWY_INLINE bool read_blocks(Bits& all_bits, const JpegScan& scan, Blocks blocks) {
  constexpr int kStepsARefill = 56 / JpegCode::kLookBits;
  const std::uint32_t* const places = scan.places.data();
  Bits bits = all_bits;              // local copy, so that it stays in registers
  std::int64_t behind = kAllBehind;  // number of coefficients after the next one in its block
  while (true) {
    bits.refill();
    for (int i = 0; i < kStepsARefill; ++i) {  // slower if unrolled
      const JpegStep step = blocks.steps()[bits.peek(JpegCode::kLookBits)];
      std::int64_t left = 0;
      if (HWY_LIKELY(static_cast<std::uint8_t>(behind) >= step.least())) {
        const std::int64_t skip = step.last_skip();
        blocks.block()[places[behind - step.first_skip()]] = step.first_value();
        left = behind - skip;
        blocks.block()[places[left]] = step.last_value();
        blocks.choose_steps(skip);
        bits.drop(step.bits());
      } else if (HWY_LIKELY(step.is_long() && behind >= step.first_skip())) {
        bits.refill();
        bits.drop(step.bits());
        left = behind - step.first_skip();
        blocks.block()[places[left]] = next_value(bits, step.value_bits());
        blocks.choose_steps(0);
        bits.refill();
      } else {
        Bits copy = bits;
        left = step_slowly(copy, scan, blocks.plane(), blocks.block(), behind);
        bits = copy;
        if (left < 0) return false;
        blocks.choose_steps(left == kOver ? -1 : 0);
      }
      behind = std::min(left, kAllBehind);
      blocks.go_on(left >> 6);
      if (HWY_UNLIKELY(blocks.is_over())) {
        all_bits = bits;
        return true;
      }
    }
  }
}

// Sums DC differences. The sums wrap around at 16 bits, as they are stored.
HWY_INLINE std::uint16_t sum_dc(const JpegScan& scan, std::int64_t from, std::int64_t to, std::uint16_t dc) {
  std::int16_t* const first = scan.blocks.data();
  if (scan.slots.size() == 1) {
    for (std::int16_t* value = first + from; value < first + to; ++value) {
      dc = static_cast<std::uint16_t>(dc + *value);
      *value = static_cast<std::int16_t>(dc);
    }
    return dc;
  }
  for (std::int64_t unit = from; unit < to; ++unit) {
    for (const JpegScan::Slot& slot : scan.slots) {
      if (slot.plane > 0) break;
      std::int16_t& value = first[slot.at + unit * slot.pitch];
      dc = static_cast<std::uint16_t>(dc + value);
      value = static_cast<std::int16_t>(dc);
    }
  }
  return dc;
}

bool read_scan(const JpegScan& scan) {
  std::int64_t unit = 0, x = 0, y = 0;
  const std::int64_t units = scan.unit_columns * scan.unit_rows;
  for (const JpegScan::Segment& segment : scan.segments) {
    const std::uint8_t* begin = scan.bytes.data() + segment.begin;
    // Every segment is followed by padding, so the reader may read ahead.
    Bits bits{.at = begin, .limit = begin + segment.length + 8};
    bits.refill();
    std::uint16_t dc = 0;
    const std::int64_t end = scan.restart_units > 0 ? std::min(units, unit + scan.restart_units) : units;
    while (unit < end && !bits.is_over) {
      if (x == 0) std::ranges::fill(scan.blocks, std::int16_t{0});
      const std::int64_t to = std::min(scan.unit_columns, x + end - unit);
      const bool is_sound = scan.slots.size() == 1 ? read_blocks(bits, scan, BlocksInTurn(scan, x, to))
                                                   : read_blocks(bits, scan, BlocksOfUnits(scan, x, to));
      if (!is_sound) return false;
      dc = sum_dc(scan, x, to, dc);
      unit += to - x;
      x = to;
      if (x < scan.unit_columns) continue;
      transform_jpeg_row(scan, y++);
      x = 0;
    }
    const auto used_bits = 8 * (bits.at - begin) - bits.count;
    const auto there_bits = 8 * static_cast<std::ptrdiff_t>(segment.length);
    if (bits.is_over || used_bits > there_bits || used_bits + 8 <= there_bits) return false;
  }
  return unit == units;
}

}  // namespace HWY_NAMESPACE
}  // namespace roentgen::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::data {
namespace {

HWY_EXPORT(read_scan);

}  // namespace

bool decode_reduced_luma(std::span<const std::byte> file, const ImageNeed& need, DecodeScratch& scratch, Image& out) {
  RG_ASSERT(need.reduction == 2 || need.reduction == 4 || need.reduction == 8);
  const auto jpeg = read_baseline_jpeg(file);
  if (!jpeg) return false;
  JpegScan scan;
  if (!plan_jpeg_scan(*jpeg, need, scratch, scan)) return false;
  const auto row_samples = static_cast<std::size_t>((scan.used + 1) * scan.stride);
  const auto levels = static_cast<std::size_t>(scan.rows * scan.size * scan.out_stride);
  scan.blocks = {reinterpret_cast<std::int16_t*>(grown(scratch.filtered, row_samples * sizeof(std::int16_t)).data()),
                 row_samples};
  scan.out = {reinterpret_cast<std::uint8_t*>(grown(scratch.lanes, levels).data()), levels};
  const bool is_clean = HWY_DYNAMIC_DISPATCH(read_scan)(scan);
  if (is_clean) show_jpeg_part(*jpeg, need, scan, out);
  return is_clean;
}

}  // namespace roentgen::data
#endif
