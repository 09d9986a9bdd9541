// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decoding plan of a baseline JPEG file, made from its header: lookup tables, and where each block goes. Only
// jpeg_luma.cpp, jpeg_transform.h and tests include this file.
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

/// Lookup result for the next bits: one symbol, or two if both fit into the bits of one lookup. Packed into one word so
/// that it needs a single load.
class JpegStep {
 public:
  struct Fields {
    /// Values of the first and the last symbol.
    std::int16_t first_value = 0;
    std::int16_t last_value = 0;
    /// Number of coefficients that each symbol advances, counted from the start of the step. The number is lower by
    /// kEnd if the symbol ends the block.
    std::int8_t first_skip = 0;
    std::int8_t last_skip = 0;
    /// Smallest number of remaining coefficients for which the step is valid. It ensures that only an end symbol ends a
    /// block.
    std::uint8_t least = kNever;
    /// Total length of the step's codes and values, in bits.
    std::uint8_t bits = 0;
  };
  /// Special values of `least`. kNever: the code of a symbol is invalid or longer than a lookup. kLong: the code fits
  /// but its value does not. With kLong, `bits` is the length of the code, `first_skip` is as usual, and `last_value`
  /// is the number of bits of the value.
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
/// Fills the lookup table `steps`, indexed by the next bits. The first symbol is read with the code `first` and the
/// second with `others`. They differ only at the start of a block.
void fill_jpeg_steps(const JpegCode& first, const JpegCode& others, std::span<JpegStep> steps);

/// Data of the decoder's inner loop.
struct JpegScan {
  /// Number of entries in a lookup table.
  static constexpr std::int64_t kSteps = std::int64_t{1} << JpegCode::kLookBits;

  /// Component of the file, with its codes.
  struct Plane {
    const JpegCode* dc = nullptr;
    const JpegCode* ac = nullptr;
    /// Steps inside a block, then steps at the start of a block.
    std::array<JpegStep, 2 * kSteps> steps;
  };
  /// A block of a unit (MCU). Its index in the row of units is `at` + `pitch` times the unit's column.
  struct Slot {
    std::size_t plane = 0;
    std::int64_t at = 0;
    std::int64_t pitch = 0;
  };
  /// Bytes between restart markers, without the stuffed zero after every 255 byte.
  struct Segment {
    std::size_t begin = 0;
    std::size_t length = 0;
  };
  /// Number of coefficients in a block.
  static constexpr int kCoefficients = 64;
  /// Largest number of blocks that one vector of the transform covers.
  static constexpr std::int64_t kMostLanes = 16;

  std::vector<Plane> planes;
  /// Blocks of a unit in the order of the file; those of the first plane come first.
  std::vector<Slot> slots;
  std::span<const std::uint8_t> bytes;
  std::vector<Segment> segments;
  std::int64_t unit_columns = 0;
  std::int64_t unit_rows = 0;
  std::int64_t restart_units = 0;
  /// Rows of first-plane blocks in a unit (`plane_rows`) and blocks side by side in a row of units (`pitch`).
  std::int64_t plane_rows = 0;
  std::int64_t pitch = 0;
  /// Side of a decoded block in pixels: 1, 2 or 4.
  std::int64_t size = 1;
  /// Range of first-plane blocks that the caller needs.
  std::int64_t first_column = 0;
  std::int64_t first_row = 0;
  std::int64_t columns = 0;
  std::int64_t rows = 0;

  /// Number of coefficients that the transform reads: those in the first five or seven rows and columns, or only the
  /// first coefficient.
  std::int64_t used = 0;
  /// Quantisation of the used coefficients in row-major order.
  std::array<std::int32_t, kCoefficients> quantisation{};
  /// (used + 1, stride) used coefficients of a row of units. The first coefficients of all blocks come first, then all
  /// second coefficients, so that a vector holds one coefficient of many blocks. The last row receives unused
  /// coefficients and is never read.
  std::span<std::int16_t> blocks;
  std::int64_t stride = 0;
  /// Offset in `blocks` of the coefficient just decoded, indexed by the number of coefficients after the next one.
  /// Index 63 is the last coefficient of the block. From kEnd on, the offset is that of the row that is never read.
  std::array<std::uint32_t, kCoefficients + JpegStep::kEnd> places{};
  /// (rows * size, out_stride) gray levels.
  std::span<std::uint8_t> out;
  std::int64_t out_stride = 0;
};

/// Fills all members except `blocks` and `out`, which need (used + 1) * stride and rows * size * out_stride elements.
/// Returns false if jpeg_luma.cpp cannot decode this file.
[[nodiscard]] bool plan_jpeg_scan(const BaselineJpeg& jpeg, const ImageNeed& need, DecodeScratch& scratch,
                                  JpegScan& scan);

/// Copies scan.out into `out`, without pixels beyond the picture's edges.
void show_jpeg_part(const BaselineJpeg& jpeg, const ImageNeed& need, const JpegScan& scan, Image& out);

}  // namespace roentgen::data
