// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Undoes PNG's row filters (PNG specification, section 9) for many rows at a time. A pixel depends on its left
// neighbour and the row above, so a single row must be computed serially. But pixel x of a row and pixel x - 1 of the
// next row can be computed together. So each SIMD lane processes one row, one pixel behind the lane of the row above.
// Highway selects the machine's instruction set at run time; all produce the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/aligned_buffer.h"

namespace roentgen::data {

/// Inflated rows: each has a byte with the filter's number, 0 to 4, and then `row_bytes` filtered bytes.
struct FilteredRows {
  std::span<const std::uint8_t> bytes;
  std::size_t row_bytes = 0;
  /// Bytes per pixel, rounded up to 1: 1, 2, 3, 4, 6 or 8.
  int pixel_bytes = 1;

  [[nodiscard]] std::size_t rows() const { return bytes.size() / (row_bytes + 1); }
};

/// Writes rows.rows() * row_bytes bytes to `out`. 16-bit samples stay big-endian, as in the file.
/// @param above the decoded row above the first; empty at the top of the picture
/// @param scratch reallocated if it is smaller than 2 * 64 * (row_bytes + 63 pixels) and a row; contents are not kept
/// between calls
/// @return false if a row has an invalid filter number; `out` is then undefined
[[nodiscard]] bool undo_row_filters(const FilteredRows& rows, std::span<const std::uint8_t> above,
                                    std::span<std::uint8_t> out, runtime::AlignedBuffer& scratch);

}  // namespace roentgen::data
