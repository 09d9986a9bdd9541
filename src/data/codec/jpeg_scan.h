// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The way from what a baseline JPEG file says to blocks in a picture. Only jpeg_luma.cpp includes this.
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

/// What the inner loop works on.
struct JpegScan {
  /// Coefficients of a block, row by row, then one element for what is behind its end and one that is 1 where there are
  /// others than the first.
  static constexpr std::size_t kBlock = 72;
  static constexpr std::size_t kBeyond = 64;
  static constexpr std::size_t kHasMore = 65;

  /// A component in the file: blocks of it in one unit, and its codes.
  struct Plane {
    std::int64_t columns = 1;
    std::int64_t rows = 1;
    const JpegCode* dc = nullptr;
    const JpegCode* ac = nullptr;
  };
  /// Bytes between restart markers, without the zeros that follow every 255.
  struct Segment {
    std::size_t begin = 0;
    std::size_t length = 0;
  };

  std::vector<Plane> planes;
  /// Of the first plane, in the order of rows and columns.
  std::array<std::int32_t, 64> quantisation{};
  std::span<const std::uint8_t> bytes;
  std::vector<Segment> segments;
  std::int64_t unit_columns = 0;
  std::int64_t unit_rows = 0;
  std::int64_t restart_units = 0;
  /// Blocks of the first plane that are wanted.
  std::int64_t first_column = 0;
  std::int64_t first_row = 0;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  /// The first plane's blocks of a row of units.
  std::span<std::int16_t> blocks;
  /// (rows * size, columns * size) levels.
  std::span<std::uint8_t> out;

  [[nodiscard]] std::size_t row_samples() const {
    return static_cast<std::size_t>(unit_columns * planes[0].columns * planes[0].rows) * kBlock;
  }
  [[nodiscard]] std::size_t out_bytes(int size) const { return static_cast<std::size_t>(rows * columns * size * size); }
};

/// By coefficient: its place in a block; behind the end of a block: the element for it, as far as two skips lead from
/// the last coefficient.
using JpegPlaces = std::array<std::uint8_t, 64 + JpegCode::kMostSkip + JpegCode::kEndOfBlock>;
[[nodiscard]] const JpegPlaces& jpeg_places();

/// All but `out`. False: the file is not what jpeg_luma.cpp reads.
[[nodiscard]] bool plan_jpeg_scan(const BaselineJpeg& jpeg, const ImageNeed& need, DecodeScratch& scratch,
                                  JpegScan& scan);

/// Copies scan.out, less what is beyond the picture's edges, into `out`.
void show_jpeg_part(const BaselineJpeg& jpeg, const ImageNeed& need, const JpegScan& scan, Image& out);

}  // namespace roentgen::data
