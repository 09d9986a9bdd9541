// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts stored array elements to float32.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/shape.h"

namespace roentgen::io {

/// True for f32, f64, f16 and bf16.
[[nodiscard]] bool is_float(DType dtype);

/// Converts little-endian elements, which may be unaligned. f32, f16 and bf16 are converted exactly, f64 is rounded.
/// is_float(dtype) must be true, and `bytes` must be a whole number of elements.
[[nodiscard]] std::vector<float> to_floats(std::span<const std::byte> bytes, DType dtype);

}  // namespace roentgen::io
