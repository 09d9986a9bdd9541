// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan from the header of a baseline JPEG file to blocks in a picture. Only jpeg_luma.cpp, jpeg_transform.h and tests
// include this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/codec/codec.h"
#include "data/codec/jpeg_baseline.h"
#include "data/image.h"

namespace roentgen::data {

/// Result of a lookup by the next bits: one symbol, or two where both fit into the bits of one lookup. Packed into one
/// word, so that it takes one load.
class JpegStep {
 public:
  struct Fields {
    /// Values of the first and of the last symbol.
    std::int16_t first_value = 0;
    std::int16_t last_value = 0;
    /// Coefficients further, both from where the step begins; kEnd less where a symbol is the end of the block.
    std::int8_t first_skip = 0;
    std::int8_t last_skip = 0;
    /// Fewest remaining coefficients for which the step is valid, so that no step but an end ends a block.
    std::uint8_t least = kNever;
    /// Bits of all symbols of the step.
    std::uint8_t bits = 0;
  };
  /// Value of `least` where the code of a symbol is invalid or longer than a lookup (kNever), or only its value is
  /// (kLong). With kLong, `bits` is the code's length, `first_skip` is as usual, and `last_value` is the number of bits
  /// of the value.
  static constexpr std::uint8_t kNever = 255;
  static constexpr std::uint8_t kLong = 254;
  static constexpr int kEnd = 64;

  constexpr JpegStep() : JpegStep(Fields{}) {}
  constexpr explicit JpegStep(const Fields& is)
      : word_(is.bits | std::uint64_t{static_cast<std::uint16_t>(is.first_value)} << 8 |
              std::uint64_t{static_cast<std::uint16_t>(is.last_value)} << 24 |
              std::uint64_t{static_cast<std::uint8_t>(is.first_skip)} << 40 | std::uint64_t{is.least} << 48 |
              std::uint64_t{static_cast<std::uint8_t>(is.last_skip)} << 56) {}

  [[nodiscard]] constexpr int bits() const { return static_cast<int>(word_ & 63U); }
  [[nodiscard]] constexpr std::int16_t first_value() const { return static_cast<std::int16_t>(word_ >> 8); }
  [[nodiscard]] constexpr std::int16_t last_value() const { return static_cast<std::int16_t>(word_ >> 24); }
  [[nodiscard]] constexpr std::int64_t first_skip() const { return static_cast<std::int8_t>(word_ >> 40); }
  [[nodiscard]] constexpr std::uint8_t least() const { return static_cast<std::uint8_t>(word_ >> 48); }
  [[nodiscard]] constexpr std::int64_t last_skip() const { return static_cast<std::int64_t>(word_) >> 56; }
  [[nodiscard]] constexpr bool is_long() const { return least() == kLong; }
  [[nodiscard]] constexpr int value_bits() const { return last_value(); }

 private:
  std::uint64_t word_;
};
/// Steps by the next bits (as many as `steps`), of a symbol of `first` and one of `others`: another code only where a
/// block begins.
void fill_jpeg_steps(const JpegCode& first, const JpegCode& others, std::span<JpegStep> steps);

/// Working data of the decoder's inner loop.
struct JpegScan {
  /// Entries of a lookup table.
  static constexpr std::int64_t kSteps = std::int64_t{1} << JpegCode::kLookBits;

  /// A component in the file, with its codes.
  struct Plane {
    const JpegCode* dc = nullptr;
    const JpegCode* ac = nullptr;
    /// Steps inside a block, then those at its beginning.
    std::array<JpegStep, 2 * kSteps> steps;
  };
  /// A block of a unit (MCU): where it is among the blocks of its row of units, less `pitch` times the unit's column.
  struct Slot {
    std::size_t plane = 0;
    std::int64_t at = 0;
    std::int64_t pitch = 0;
  };
  /// Bytes between restart markers, without the zeros that follow every 255.
  struct Segment {
    std::size_t begin = 0;
    std::size_t length = 0;
  };
  /// Coefficients of a block.
  static constexpr int kCoefficients = 64;
  /// Length of the longest vector of the transform, in blocks.
  static constexpr std::int64_t kMostLanes = 16;

  std::vector<Plane> planes;
  /// Slots in the order of the file; those of the first plane are first.
  std::vector<Slot> slots;
  std::span<const std::uint8_t> bytes;
  std::vector<Segment> segments;
  std::int64_t unit_columns = 0;
  std::int64_t unit_rows = 0;
  std::int64_t restart_units = 0;
  /// Blocks of the first plane in a unit, one below the other; in a row of units, side by side.
  std::int64_t plane_rows = 0;
  std::int64_t pitch = 0;
  /// Pixels of a block's side: 1, 2 or 4.
  std::int64_t size = 1;
  /// Blocks of the first plane that the caller needs.
  std::int64_t first_column = 0;
  std::int64_t first_row = 0;
  std::int64_t columns = 0;
  std::int64_t rows = 0;

  /// Coefficients that the transform looks at: in five or seven rows and as many columns, or only the first one.
  std::int64_t used = 0;
  /// Quantisation of the used coefficients, row by row.
  std::array<std::int32_t, kCoefficients> quantisation{};
  /// (used + 1, stride): used coefficients of a row of units. All blocks' first ones come first, then all second ones,
  /// so that a vector holds the same coefficient of many blocks. The last row is never read.
  std::span<std::int16_t> blocks;
  std::int64_t stride = 0;
  /// Offset in `blocks` of the last coefficient read, by the number of coefficients after the next one. 63: the block's
  /// last coefficient; from kEnd on: the row that is never read.
  std::array<std::uint32_t, kCoefficients + JpegStep::kEnd> places{};
  /// (rows * size, out_stride) levels.
  std::span<std::uint8_t> out;
  std::int64_t out_stride = 0;
};

/// Fills all members but `blocks` and `out`, whose sizes are (used + 1) * stride and rows * size * out_stride. False:
/// jpeg_luma.cpp does not read this file.
[[nodiscard]] bool plan_jpeg_scan(const BaselineJpeg& jpeg, const ImageNeed& need, DecodeScratch& scratch,
                                  JpegScan& scan);

/// Copies scan.out, without pixels beyond the picture's edges, into `out`.
void show_jpeg_part(const BaselineJpeg& jpeg, const ImageNeed& need, const JpegScan& scan, Image& out);

}  // namespace roentgen::data
