// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Little-endian numbers in file formats, on machines that store numbers so themselves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace roentgen::io {

static_assert(std::endian::native == std::endian::little);

/// The number whose bytes begin at `at`, which need not be aligned; all of them must be there.
template <typename Number>
[[nodiscard]] Number little_endian_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.subspan(at, sizeof number).data(), sizeof number);
  return number;
}

/// Appends the bytes of a number.
template <typename Number>
void append_little_endian(std::string& to, Number number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace roentgen::io
