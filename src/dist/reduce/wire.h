// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Wire: the format of gradients between ranks. Sums are float32 whatever travels. bf16 is the upper half of a float32:
// 8 bits of precision, the same range. Rounded to nearest, ties to even; NaN stays NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace roentgen::dist {

enum class Wire : std::uint8_t { F32, Bf16 };

/// "f32" or "bf16"; else ConfigError naming them.
[[nodiscard]] Wire parse_wire(std::string_view name);
/// Bytes of this many numbers.
[[nodiscard]] constexpr std::size_t wire_bytes(Wire wire, std::size_t count) {
  return count * (wire == Wire::F32 ? sizeof(float) : sizeof(std::uint16_t));
}

/// src to dst, of one size, which do not overlap.
void to_bf16(std::span<const float> src, std::span<std::uint16_t> dst);
void from_bf16(std::span<const std::uint16_t> src, std::span<float> dst);

/// values *= factor.
void scale(std::span<float> values, float factor);

/// A sum of received elements and this rank's own.
struct WireSum {
  Wire wire = Wire::F32;
  /// Received elements in the order of summing: own.size() numbers from each source, in the wire format.
  std::span<const std::byte* const> sources{};
  /// Number of `sources` that are added before `own`.
  std::size_t own_at = 0;
  /// Factor of the sum, which is then rounded to the wire format, so that sender and receivers hold the same values. 0:
  /// no factor, no rounding.
  float mean_factor = 0.0F;
};
/// own = the sum ((source 0 + source 1) + ...), with own in its place among the sources.
void sum_into(std::span<float> own, const WireSum& sum);

}  // namespace roentgen::dist
