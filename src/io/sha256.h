// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SHA-256 (FIPS 180-4) by OpenSSL, as lower-case hex; and the fast non-cryptographic hash (XXH3-128).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::io {

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::string sha256_hex(std::string_view text);
/// XXH3 128-bit, 32 hex digits: for cache keys and duplicates, not for secrets.
[[nodiscard]] std::string fast_hash_hex(std::span<const std::byte> bytes);
/// XXH3 64-bit for the same uses, where no text is needed.
[[nodiscard]] std::uint64_t fast_hash(std::span<const std::byte> bytes);
/// Identity of a split list (docs/reference/formats): SHA-256 of the distinct base names, sorted bytewise, each
/// followed by a newline. Where two different names have one base name (CheXpert's view1_frontal.jpg), of the distinct
/// whole names: base names would be the same of any list.
[[nodiscard]] std::string name_list_sha256(std::vector<std::string> names);

}  // namespace roentgen::io
