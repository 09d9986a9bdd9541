// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Big-endian numbers in image files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace roentgen::data {

/// Returns the big-endian number in the `size` bytes (at most 4) from index `at` on. The caller checks that they exist.
[[nodiscard]] inline std::uint32_t big_endian_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (const std::byte b : bytes.subspan(at, size)) number = number << 8U | std::to_integer<std::uint32_t>(b);
  return number;
}

}  // namespace roentgen::data
