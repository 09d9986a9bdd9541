// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes NumPy's .npy files: one array each, readable by numpy.load() and by most other programs.
#pragma once

#include <filesystem>
#include <span>

#include "core/shape.h"

namespace roentgen::io {

/// Writes `values`, row-major, as format 1.0, little-endian float32, C order. Atomic (io/file.h); DataError on a full
/// disk. `values` has the elements of `shape`, whose rank is at least 1.
void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values);

}  // namespace roentgen::io
