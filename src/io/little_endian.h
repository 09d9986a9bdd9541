// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Little-endian numbers in files, for little-endian machines.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace roentgen::io {

static_assert(std::endian::native == std::endian::little);

/// Returns the number whose bytes begin at index `at`, which may be unaligned. The caller checks that the bytes exist.
template <typename Number>
[[nodiscard]] Number little_endian_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.subspan(at, sizeof number).data(), sizeof number);
  return number;
}

/// Appends the bytes of a number to `to`.
template <typename Number>
void append_little_endian(std::string& to, Number number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace roentgen::io
