// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of gradients to and from f16 with a factor that keeps small ones from underflow.
#pragma once

#include <cstdint>

#include "engine/cuda/elementwise/flat.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Largest number of f16.
inline constexpr float kMostF16 = 65504.0F;

/// Factor of a conversion, and the bound of its results.
struct ScaledConversion {
  float factor = 1.0F;
  float limit = kMostF16;  ///< results beyond it, infinite ones too, become it with their sign; NaN stays NaN
};
/// to = from * factor within the limits, rounded to nearest, ties to even. `to` may be `from` where elements have one
/// size. Reads and writes each element once. DeviceError when the launch is refused.
void convert_scaled(runtime::Stream& stream, TypedPointer from, TypedPointer to, std::int64_t count,
                    const ScaledConversion& conversion);

}  // namespace roentgen::engine::cuda
