// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/floats.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/error.h"

namespace roentgen::io {
namespace {
static_assert(std::endian::native == std::endian::little, "elements of files are little-endian and read as they lie");

/// Converts IEEE 754 half precision to single precision. Exact; NaN payloads are kept.
float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fU;
  const std::uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) {  // zero and subnormals: fraction x 2^-24 is exact in single precision
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

float float_of_bfloat(std::uint16_t bfloat) { return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16); }

/// Converts element by element; the data may be unaligned.
template <typename Element, typename Convert>
std::vector<float> converted(std::span<const std::byte> bytes, Convert convert) {
  std::vector<float> values(bytes.size() / sizeof(Element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    values[i] = convert(element);
  }
  return values;
}
}  // namespace

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::F16 || dtype == DType::Bf16;
}

std::vector<float> to_floats(std::span<const std::byte> bytes, DType dtype) {
  RG_ASSERT(is_float(dtype));
  switch (dtype) {
    case DType::F64:
      return converted<double>(bytes, [](double value) { return static_cast<float>(value); });
    case DType::F16:
      return converted<std::uint16_t>(bytes, float_of_half);
    case DType::Bf16:
      return converted<std::uint16_t>(bytes, float_of_bfloat);
    default:
      return converted<float>(bytes, [](float value) { return value; });
  }
}

}  // namespace roentgen::io
