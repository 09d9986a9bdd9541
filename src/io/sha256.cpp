// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/sha256.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"

namespace roentgen::io {
namespace {
std::string to_hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}
}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned int length = 0;
  // Fails only if a system policy disables SHA-256, which the program requires.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1 ||
      length != digest.size()) {
    throw DeviceError(error_text("io.sha256", "OpenSSL", "a SHA-256 checksum", "an error"));
  }
  return to_hex(digest);
}

std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text.data(), text.size()))); }

std::string fast_hash_hex(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical{};
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return to_hex(canonical.digest);
}

std::uint64_t fast_hash(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string name_list_sha256(std::vector<std::string> names) {
  const auto make_distinct = [](std::vector<std::string>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  make_distinct(names);
  std::vector<std::string> base_names;
  for (const std::string& name : names) base_names.push_back(name.substr(name.find_last_of('/') + 1));
  make_distinct(base_names);
  if (base_names.size() == names.size()) names = std::move(base_names);
  std::string joined;
  for (const std::string& name : names) joined.append(name).push_back('\n');
  return sha256_hex(joined);
}

}  // namespace roentgen::io
