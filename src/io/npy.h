// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NumPy's .npy files with one array each, which numpy.load() and many other programs can read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/shape.h"

namespace roentgen::io {

/// Writes `values` in row-major order as format 1.0, little-endian float32, C order. Atomic (io/file.h). `values` has
/// as many elements as `shape`, whose rank is at least 1. Throws DataError if the disk is full.
void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values);

/// Header of an npy file: dtype F32, U8 or U16, little-endian, C order.
[[nodiscard]] std::string npy_head(const Shape& shape, DType dtype);

/// Shape and dtype of an array in a file, without its elements.
struct NpyHead {
  Shape shape;
  DType dtype = DType::F32;
  /// Offset of the first element in bytes.
  std::size_t data_begin = 0;
};

/// Parses a header that npy_head() or NumPy wrote (format 1.0 and 2.0). `what` names the file in messages. Fails for
/// another dtype or order, a malformed header, negative or overflowing dimensions, or a file size that does not match
/// the shape.
[[nodiscard]] Result<NpyHead> parse_npy_head(std::span<const std::byte> file, std::string_view what);

}  // namespace roentgen::io
