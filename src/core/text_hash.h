// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A hash of a text that is equal on every machine and in every version. It names random streams, plans and stored
// measurements, and protects no secret.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen {

/// Hashes a text by 64-bit FNV-1a (Fowler, Noll, Vo).
[[nodiscard]] constexpr std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace roentgen
