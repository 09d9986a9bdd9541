// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Wire: format of gradients in messages between ranks. Sums are always float32. bf16 is the upper half of a float32: 8
// bits of precision, the same range. f16 (IEEE binary16) has 11 bits of precision, from 2^-24 to 65504; larger values
// become infinite. Rounds to nearest, ties to even; NaN stays NaN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace roentgen::dist {

/// Format of numbers in messages.
enum class Wire : std::uint8_t { F32, Bf16, F16 };

/// Names of all wire formats, in the order of Wire.
inline constexpr std::array<std::string_view, 3> kWireNames{"f32", "bf16", "f16"};
/// Parses the name of a wire format. Throws ConfigError listing all for another name.
[[nodiscard]] Wire parse_wire(std::string_view name);
/// Largest relative error of a value that is rounded to a wire format, unless it is too small for f16.
[[nodiscard]] constexpr double wire_rounding(Wire wire) {
  return wire == Wire::F32 ? 0x1p-24 : wire == Wire::Bf16 ? 0x1p-8 : 0x1p-11;
}
/// Number of bytes that `count` elements take in a wire format.
[[nodiscard]] constexpr std::size_t wire_bytes(Wire wire, std::size_t count) {
  return count * (wire == Wire::F32 ? sizeof(float) : sizeof(std::uint16_t));
}

/// Rounds float32 to a format of 16 bits. `src` and `dst` must have the same size and must not overlap.
void to_wire(Wire wire, std::span<const float> src, std::span<std::uint16_t> dst);
/// Inverse of to_wire(): exact.
void from_wire(Wire wire, std::span<const std::uint16_t> src, std::span<float> dst);

/// Multiplies all values by `factor`.
void scale(std::span<float> values, float factor);

/// Options to sum received elements and this rank's own.
struct WireSum {
  Wire wire = Wire::F32;
  /// Elements received from other ranks, in the order of summation. Each source has own.size() elements in the wire
  /// format.
  std::span<const std::byte* const> sources{};
  /// Number of sources that are added before this rank's own elements.
  std::size_t own_at = 0;
  /// Factor by which the sum is multiplied. The product is rounded to the wire format, so that sender and receivers get
  /// the same values. 0 for neither.
  float mean_factor = 0.0F;
};
/// Computes own = (source 0 + source 1) + ..., where `own` is added at position sum.own_at.
void sum_into(std::span<float> own, const WireSum& sum);

}  // namespace roentgen::dist
