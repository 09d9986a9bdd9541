// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Undoes PNG's row filters (PNG specification, section 9) for many rows at a time. Each pixel depends on its left
// neighbour and on the row above, so a single row is serial. But the pixel at x of one row and that at x - 1 of the row
// below can be computed together. So each SIMD lane has a row, one pixel behind the row above. Highway selects the
// machine's instruction set at run time; the bytes are the same on all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/aligned_buffer.h"

namespace roentgen::data {

/// Rows as they come out of inflate: a byte that names the filter, 0 to 4, then `row_bytes` filtered bytes.
struct FilteredRows {
  std::span<const std::uint8_t> bytes;
  std::size_t row_bytes = 0;
  /// Bytes of a whole pixel, at least 1: 1, 2, 3, 4, 6 or 8.
  int pixel_bytes = 1;

  [[nodiscard]] std::size_t rows() const { return bytes.size() / (row_bytes + 1); }
};

/// Writes rows.rows() * row_bytes bytes to `out`, big-endian samples as they are in the file.
/// @param above the decoded row above the first; empty at the top of the picture
/// @param scratch grown when it must (2 * 64 * (row_bytes + 63 pixels) and a row); its contents mean nothing between
/// calls
/// @return false when a row names no filter; then `out` is undefined
[[nodiscard]] bool undo_row_filters(const FilteredRows& rows, std::span<const std::uint8_t> above,
                                    std::span<std::uint8_t> out, runtime::AlignedBuffer& scratch);

}  // namespace roentgen::data
