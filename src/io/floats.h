// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Elements of files as float32.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/shape.h"

namespace roentgen::io {

/// True for f32, f64, f16 and bf16.
[[nodiscard]] bool is_float(DType dtype);

/// Converts little-endian elements, which need not be aligned: f32 copied, f16 and bf16 exactly, f64 rounded. `dtype`
/// is_float(); the bytes are a whole number of elements.
[[nodiscard]] std::vector<float> to_floats(std::span<const std::byte> bytes, DType dtype);

}  // namespace roentgen::io
