// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NumPy's .npy files: one array each, readable by numpy.load() and by most other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/shape.h"

namespace roentgen::io {

/// Writes `values`, row-major, as format 1.0, little-endian float32, C order. Atomic (io/file.h); DataError on a full
/// disk. `values` has the elements of `shape`, whose rank is at least 1.
void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values);

/// Header of an npy file: dtype F32, U8 or U16, little-endian, C order.
[[nodiscard]] std::string npy_head(const Shape& shape, DType dtype);

/// An array whose elements are stored elsewhere.
struct NpyHead {
  Shape shape;
  DType dtype = DType::F32;
  /// Bytes before the first element.
  std::size_t data_begin = 0;
};

/// Reads a header written by npy_head() or NumPy (format 1.0 and 2.0). `what` names it in messages. Failure: another
/// dtype or order, a malformed header, dimensions that are negative or overflow, or a file size that does not match the
/// shape.
[[nodiscard]] Result<NpyHead> parse_npy_head(std::span<const std::byte> file, std::string_view what);

}  // namespace roentgen::io
