// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Numbers of image formats that put the upper byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace roentgen::data {

/// The number that the `size` bytes from `at` on spell, up to 4; all of them must be there.
[[nodiscard]] inline std::uint32_t big_endian_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (const std::byte b : bytes.subspan(at, size)) number = number << 8U | std::to_integer<std::uint32_t>(b);
  return number;
}

}  // namespace roentgen::data
