// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Damaged files: truncated anywhere, or with any byte changed. Decoders must not crash or throw, and must refuse damage
// that they can detect.
#include <gtest/gtest.h>

#include "data/codec/codec.h"
#include "data/codec/codec_testing.h"

namespace roentgen::data {
namespace {

constexpr std::size_t kWidth = 61;
constexpr std::size_t kHeight = 47;
// Memory limit of the tests, because a changed header may claim any size.
constexpr DecodeLimits kLimits{.max_pixels = 1 << 20, .max_bytes = 4U << 20U};

struct NamedFile {
  std::string name;
  std::vector<std::byte> bytes;
};

std::vector<NamedFile> files() {
  std::vector<NamedFile> all;
  TestPng png{.width_px = kWidth, .height_px = kHeight, .samples = smooth_bytes(kWidth, kHeight, 1)};
  all.push_back({"gray.png", encode_test_png(png)});
  png.interlace = SPNG_INTERLACE_ADAM7;
  all.push_back({"gray_interlaced.png", encode_test_png(png)});
  png.colour_type = SPNG_COLOR_TYPE_INDEXED;
  for (int i = 0; i < 256; ++i) png.palette.push_back({static_cast<std::uint8_t>(i), 3, 200, 0});
  all.push_back({"palette_interlaced.png", encode_test_png(png)});
  png.palette.clear();
  png.interlace = SPNG_INTERLACE_NONE;
  png.colour_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
  png.bit_depth = 16;
  png.samples = smooth_bytes(kWidth, kHeight, 8);
  all.push_back({"rgba16.png", encode_test_png(png)});
  TestJpeg jpeg{.width_px = kWidth, .height_px = kHeight, .samples = smooth_bytes(kWidth, kHeight, 1)};
  all.push_back({"gray.jpeg", encode_test_jpeg(jpeg)});
  jpeg.flags = TJFLAG_PROGRESSIVE;
  jpeg.format = TJPF_RGB;
  jpeg.subsampling = TJSAMP_420;
  jpeg.samples = smooth_bytes(kWidth, kHeight, 3);
  all.push_back({"rgb_progressive.jpeg", encode_test_jpeg(jpeg)});
  return all;
}

bool is_png(const NamedFile& file) { return file.name.ends_with(".png"); }

TEST(Damage, a_file_cut_anywhere_is_refused) {
  Decoder decoder;
  Image image;
  for (const NamedFile& file : files()) {
    // A PNG has an end marker of 12 bytes after the pixel data, a JPEG one of 2 bytes. Files without it can be decoded
    // (PNG must be), so truncations begin before it.
    const std::size_t last = file.bytes.size() - (is_png(file) ? 12 : 2);
    for (std::size_t size = 0; size < last; size += size < 200 ? 1 : 7) {
      const auto cut = std::span(file.bytes).first(size);
      const Status status = decoder.decode(cut, file.name, {.limits = kLimits}, image);
      ASSERT_FALSE(status.ok()) << file.name << " cut to " << size << " of " << file.bytes.size();
      ASSERT_EQ(status.error().find('\n'), std::string::npos);
    }
  }
}

// A changed byte must be detected, because a checksum covers every byte of pixel data.
TEST(Damage, a_png_with_any_byte_of_its_pixels_changed_is_refused) {
  Decoder decoder;
  Image image;
  Random random(11, RandomStage::Test);
  for (NamedFile& file : files()) {
    if (!is_png(file)) continue;
    const std::vector<std::byte> marker = as_bytes("IDAT");
    const auto begin = std::search(file.bytes.begin(), file.bytes.end(), marker.begin(), marker.end());
    for (auto at = begin; at < file.bytes.end() - 12; at += 3) {
      const std::byte before = *at;
      *at ^= static_cast<std::byte>(1 + random.below(255));
      const Status status = decoder.decode(file.bytes, file.name, {.limits = kLimits}, image);
      ASSERT_FALSE(status.ok()) << file.name << " changed at " << at - file.bytes.begin();
      *at = before;
    }
  }
}

TEST(Damage, a_file_with_random_bytes_changed_gives_a_picture_or_a_reason) {
  Decoder decoder;
  Image image;
  std::int64_t pictures = 0;
  std::int64_t reasons = 0;
  for (const NamedFile& file : files()) {
    for (std::uint64_t round = 0; round < 400; ++round) {
      Random random(5, RandomStage::Test, round);
      std::vector<std::byte> bytes = file.bytes;
      for (std::uint64_t i = 0; i <= round % 4; ++i) {
        // Half of the changes affect the first 200 bytes, which contain the headers.
        const std::uint64_t range = random.chance(0.5) ? std::min<std::uint64_t>(200, bytes.size()) : bytes.size();
        bytes[random.below(range)] = static_cast<std::byte>(random.below(256));
      }
      const Status status = decoder.decode(bytes, file.name, {.limits = kLimits}, image);
      ++(status.ok() ? pictures : reasons);
    }
  }
  EXPECT_GT(pictures, 0);
  EXPECT_GT(reasons, 0);
}

TEST(Damage, random_bytes_behind_a_signature_are_refused) {
  Decoder decoder;
  Image image;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const NamedFile& file : files()) {
      std::vector<std::byte> bytes(file.bytes.begin(), file.bytes.begin() + 8);
      const std::vector<std::byte> noise = random_bytes(500, seed);
      bytes.insert(bytes.end(), noise.begin(), noise.end());
      EXPECT_FALSE(decoder.decode(bytes, file.name, {.limits = kLimits}, image).ok());
    }
  }
}

}  // namespace
}  // namespace roentgen::data
