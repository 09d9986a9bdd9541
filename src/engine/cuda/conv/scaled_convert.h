// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of gradients to and from f16, with a factor that keeps small values from underflow.
#pragma once

#include <cstdint>

#include "engine/cuda/elementwise/flat.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Largest number of f16.
inline constexpr float kMostF16 = 65504.0F;

/// Factor of a conversion and limit of its results.
struct ScaledConversion {
  float factor = 1.0F;
  float limit = kMostF16;  ///< larger results, also infinite ones, become the limit with their sign; NaN stays NaN
};
/// Computes to = from * factor within the limit, rounded to nearest, ties to even. `to` may equal `from` if both types
/// have the same size. Reads and writes each element once. Throws DeviceError if the launch is refused.
void convert_scaled(runtime::Stream& stream, TypedPointer from, TypedPointer to, std::int64_t count,
                    const ScaledConversion& conversion);

}  // namespace roentgen::engine::cuda
