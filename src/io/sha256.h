// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SHA-256 (FIPS 180-4) as lower-case hex, computed by OpenSSL, and a fast non-cryptographic hash (XXH3).
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
/// XXH3 with 128 bits as 32 hex digits. For cache keys and duplicates, not for security.
[[nodiscard]] std::string fast_hash_hex(std::span<const std::byte> bytes);
/// XXH3 with 64 bits, for the same uses where no text is needed.
[[nodiscard]] std::uint64_t fast_hash(std::span<const std::byte> bytes);
/// Identifies a split list (docs/reference/formats): SHA-256 of the distinct base names, sorted bytewise, each followed
/// by a newline. If two different names have the same base name (CheXpert's view1_frontal.jpg), it hashes the distinct
/// whole names. Otherwise all lists of such a data set would have equal hashes.
[[nodiscard]] std::string name_list_sha256(std::vector<std::string> names);

}  // namespace roentgen::io
