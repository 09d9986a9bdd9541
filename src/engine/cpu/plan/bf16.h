// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The type bf16: the upper half of a float, with its sign, its exponent and 7 bits of its fraction.
#pragma once

#include <bit>
#include <cstdint>

namespace roentgen::engine::cpu {

/// A number in bf16, as activations are stored with dtype bf16.
struct Bf16 {
  std::uint16_t bits = 0;
  friend bool operator==(const Bf16&, const Bf16&) = default;
};

/// Converts to f32, exactly.
[[nodiscard]] inline float to_f32(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}
[[nodiscard]] inline float to_f32(float value) { return value; }

/// Rounds to nearest, ties to even; NaN stays NaN. The relative error is at most 2^-8.
[[nodiscard]] inline Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U)};
}

}  // namespace roentgen::engine::cpu
