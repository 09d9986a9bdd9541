// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pixel_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "data/codec/channels.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

constexpr std::size_t kDigits = 16;

// True if all pixels equal the first.
bool is_blank(const Image& image) {
  const auto bytes = image.bytes();
  const auto pixel = static_cast<std::size_t>(image.channels() * image.layout().bits / 8);
  return bytes.size() <= pixel || std::memcmp(bytes.data(), bytes.data() + pixel, bytes.size() - pixel) == 0;
}

// True if 8-bit samples were stored as 16-bit samples, multiplied by 257.
bool is_widened(const Image& image) {
  if (image.layout().bits != 16 || image.layout().max_value != 65535) return false;
  return std::ranges::all_of(image.samples<std::uint16_t>(), [](std::uint16_t sample) { return sample % 257 == 0; });
}

// Takes the first of every `step` samples, divided by `divisor`.
template <typename From, typename To>
void thin(std::span<const From> samples, std::size_t step, From divisor, std::span<To> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(samples[i * step] / divisor);
}

// Converts a picture to its smallest form: gray if all three channels are equal, 8 bits if 16 add nothing. Returns true
// if that is smaller than `image`.
bool reduce(const Image& image, Image& small) {
  const bool is_wide = image.layout().bits == 16;
  const bool has_colour_of_gray = image.channels() == 3 && has_equal_channels(image);
  const bool has_8_bits = is_widened(image);
  if (!has_colour_of_gray && !has_8_bits) return false;
  ImageLayout layout = image.layout();
  if (has_colour_of_gray) layout.channels = 1;
  if (has_8_bits) layout.bits = 8;
  if (has_8_bits) layout.max_value = 255;
  small.reset(layout);
  const std::size_t step = has_colour_of_gray ? 3 : 1;
  if (!is_wide) {
    thin(image.samples<std::uint8_t>(), step, std::uint8_t{1}, small.samples<std::uint8_t>());
  } else if (has_8_bits) {
    thin(image.samples<std::uint16_t>(), step, std::uint16_t{257}, small.samples<std::uint8_t>());
  } else {
    thin(image.samples<std::uint16_t>(), step, std::uint16_t{1}, small.samples<std::uint16_t>());
  }
  return true;
}

}  // namespace

std::uint64_t pixel_hash(const Image& image) {
  if (is_blank(image)) return 0;
  if (Image small; reduce(image, small)) return pixel_hash(small);
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
