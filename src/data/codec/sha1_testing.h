// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SHA-1 (FIPS 180-4), because the test data state expected pixels as SHA-1. Only tests include this file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace roentgen::data {

inline void sha1_block(std::span<const std::byte> block, std::array<std::uint32_t, 5>& state) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8U | std::to_integer<std::uint32_t>(block[i]);
  for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    const std::uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999U
                            : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1U
                            : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCU
                                     : (b ^ c ^ d) + 0xCA62C1D6U;
    const std::uint32_t next = std::rotl(a, 5) + f + e + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

/// SHA-1 as lower-case hex.
inline std::string sha1_hex(std::span<const std::byte> bytes) {
  std::array<std::uint32_t, 5> state{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
  const std::size_t whole = bytes.size() / 64 * 64;
  for (std::size_t i = 0; i < whole; i += 64) sha1_block(bytes.subspan(i, 64), state);
  std::vector<std::byte> tail(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
  tail.push_back(std::byte{0x80});
  while (tail.size() % 64 != 56) tail.push_back(std::byte{0});
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int i = 7; i >= 0; --i) tail.push_back(static_cast<std::byte>(bits >> (8 * i)));
  for (std::size_t i = 0; i < tail.size(); i += 64) sha1_block(std::span(tail).subspan(i, 64), state);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state) {
    for (int i = 28; i >= 0; i -= 4) text += kDigits[word >> i & 15U];
  }
  return text;
}

}  // namespace roentgen::data
