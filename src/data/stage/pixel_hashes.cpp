// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pixel_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "io/sha256.h"

namespace roentgen::data {
namespace {

constexpr std::size_t kDigits = 16;

// Pixel by pixel the same as the first.
bool is_blank(const Image& image) {
  const auto bytes = image.bytes();
  const auto pixel = static_cast<std::size_t>(image.channels() * image.layout().bits / 8);
  return bytes.size() <= pixel || std::memcmp(bytes.data(), bytes.data() + pixel, bytes.size() - pixel) == 0;
}

}  // namespace

std::uint64_t pixel_hash(const Image& image) {
  if (is_blank(image)) return 0;
  const ImageLayout& layout = image.layout();
  const std::string text = fmt::format("{} {} {} {} {}", layout.width_px, layout.height_px, layout.channels,
                                       layout.bits, io::fast_hash_hex(image.bytes()));
  const std::string hex = io::fast_hash_hex(std::as_bytes(std::span(text.data(), text.size())));
  std::uint64_t hash = 0;
  std::from_chars(hex.data(), hex.data() + kDigits, hash, 16);
  return hash;
}

std::string pixel_hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace roentgen::data
