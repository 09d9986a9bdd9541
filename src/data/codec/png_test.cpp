// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes PNG files of every colour type, depth and interlacing, and compares with the samples that they were made
// from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/codec/channels.h"
#include "data/codec/codec.h"
#include "data/codec/codec_testing.h"

namespace roentgen::data {
namespace {

constexpr std::uint32_t kWidth = 13;  // not a multiple of 8, so rows of 1 bit end inside a byte
constexpr std::uint32_t kHeight = 11;
constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;

struct Kind {
  std::string name;
  std::uint8_t colour_type;
  std::uint8_t bit_depth;
  std::uint8_t interlace;
};

std::size_t channels_of(const Kind& kind) {
  switch (kind.colour_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
      return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR:
      return 3;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
      return 4;
    default:
      return 1;
  }
}

spng_plte_entry palette_entry(std::uint32_t i) {
  return {static_cast<std::uint8_t>(i * 7), static_cast<std::uint8_t>(255 - i), static_cast<std::uint8_t>(i * 31), 0};
}

// Random stored samples (kPixels x channels), each below 2^bit_depth.
std::vector<std::uint32_t> draw_samples(const Kind& kind) {
  Random random(20240117, RandomStage::Test, kind.colour_type, kind.bit_depth);
  std::vector<std::uint32_t> samples(kPixels * channels_of(kind));
  for (std::uint32_t& sample : samples) {
    sample = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << kind.bit_depth));
  }
  return samples;
}

std::vector<std::byte> pack(const Kind& kind, const std::vector<std::uint32_t>& samples) {
  const std::size_t per_row = kWidth * channels_of(kind);
  const std::size_t row_bytes = (per_row * kind.bit_depth + 7) / 8;
  std::vector<std::byte> packed(row_bytes * kHeight);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::byte* row = packed.data() + i / per_row * row_bytes;
    const std::size_t bit = i % per_row * kind.bit_depth;
    if (kind.bit_depth == 16) {
      const auto sample = static_cast<std::uint16_t>(samples[i]);
      std::memcpy(row + bit / 8, &sample, 2);
    } else {
      row[bit / 8] |= static_cast<std::byte>(samples[i] << (8 - kind.bit_depth - bit % 8));
    }
  }
  return packed;
}

// Red, green and blue of a pixel, scaled to its container as codec.h defines.
std::array<std::uint32_t, 3> colour_at(const Kind& kind, const std::vector<std::uint32_t>& samples, std::size_t pixel) {
  const std::size_t channels = channels_of(kind);
  const std::uint32_t first = samples[pixel * channels];
  if (kind.colour_type == SPNG_COLOR_TYPE_INDEXED) {
    const spng_plte_entry entry = palette_entry(first);
    return {entry.red, entry.green, entry.blue};
  }
  if (channels >= 3) return {first, samples[pixel * channels + 1], samples[pixel * channels + 2]};
  const std::uint32_t widened = kind.bit_depth < 8 ? first * 255U / ((1U << kind.bit_depth) - 1U) : first;
  return {widened, widened, widened};
}

std::vector<std::byte> make_file(const Kind& kind) {
  TestPng png{.width_px = kWidth, .height_px = kHeight};
  png.colour_type = kind.colour_type;
  png.bit_depth = kind.bit_depth;
  png.interlace = kind.interlace;
  png.samples = pack(kind, draw_samples(kind));
  if (kind.colour_type == SPNG_COLOR_TYPE_INDEXED) {
    for (std::uint32_t i = 0; i < 1U << kind.bit_depth; ++i) png.palette.push_back(palette_entry(i));
    png.palette_alpha = {0, 100};  // must have no effect
  }
  return encode_test_png(png);
}

std::vector<std::uint32_t> samples_of(const Image& image) {
  std::vector<std::uint32_t> samples;
  if (image.layout().bits == 8) {
    for (const std::uint8_t v : image.samples<std::uint8_t>()) samples.push_back(v);
  } else {
    for (const std::uint16_t v : image.samples<std::uint16_t>()) samples.push_back(v);
  }
  return samples;
}

class PngKinds : public testing::TestWithParam<Kind> {
 protected:
  Image decode(Channels channels) {
    Image image;
    const Status status = decoder_.decode(make_file(GetParam()), GetParam().name, {.channels = channels}, image);
    EXPECT_TRUE(status.ok()) << status.error();
    return image;
  }

 private:
  Decoder decoder_;
};

TEST_P(PngKinds, decode_to_rgb) {
  const std::vector<std::uint32_t> stored = draw_samples(GetParam());
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < kPixels; ++i) {
    for (const std::uint32_t v : colour_at(GetParam(), stored, i)) expected.push_back(v);
  }
  EXPECT_EQ(samples_of(decode(Channels::Rgb)), expected);
}

TEST_P(PngKinds, decode_to_gray) {
  const std::vector<std::uint32_t> stored = draw_samples(GetParam());
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < kPixels; ++i) {
    const auto [r, g, b] = colour_at(GetParam(), stored, i);
    expected.push_back(luma(r, g, b));
  }
  EXPECT_EQ(samples_of(decode(Channels::Gray)), expected);
}

TEST_P(PngKinds, give_their_own_channels_and_range_unless_asked) {
  const Image image = decode(Channels::FromFile);
  const bool is_gray = channels_of(GetParam()) <= 2 && GetParam().colour_type != SPNG_COLOR_TYPE_INDEXED;
  EXPECT_EQ(image.channels(), is_gray ? 1 : 3);
  EXPECT_EQ(image.layout().bits, GetParam().bit_depth == 16 ? 16 : 8);
  EXPECT_EQ(image.layout().max_value, GetParam().bit_depth == 16 ? 65535U : 255U);
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const std::uint8_t interlace : std::initializer_list<std::uint8_t>{SPNG_INTERLACE_NONE, SPNG_INTERLACE_ADAM7}) {
    const std::string suffix = interlace == SPNG_INTERLACE_NONE ? "" : "_interlaced";
    for (const std::uint8_t depth : std::initializer_list<std::uint8_t>{1, 2, 4, 8, 16}) {
      const std::string text = std::to_string(depth) + suffix;
      kinds.push_back({"gray" + text, SPNG_COLOR_TYPE_GRAYSCALE, depth, interlace});
      if (depth <= 8) kinds.push_back({"palette" + text, SPNG_COLOR_TYPE_INDEXED, depth, interlace});
      if (depth < 8) continue;
      kinds.push_back({"gray_alpha" + text, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, depth, interlace});
      kinds.push_back({"rgb" + text, SPNG_COLOR_TYPE_TRUECOLOR, depth, interlace});
      kinds.push_back({"rgba" + text, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, depth, interlace});
    }
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, PngKinds, testing::ValuesIn(all_kinds()),
                         [](const testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

TEST(Png, without_its_end_marker_is_read) {
  std::vector<std::byte> file = make_file({"gray", SPNG_COLOR_TYPE_GRAYSCALE, 8, SPNG_INTERLACE_NONE});
  file.resize(file.size() - 12);
  Image image;
  const Status status = Decoder{}.decode(file, "x", {}, image);
  EXPECT_TRUE(status.ok()) << status.error();
}

TEST(Png, that_ends_inside_its_pixels_is_refused) {
  std::vector<std::byte> file = make_file({"gray", SPNG_COLOR_TYPE_GRAYSCALE, 8, SPNG_INTERLACE_NONE});
  file.resize(file.size() - 13);  // one byte of the last pixel checksum is missing as well
  Image image;
  const Status status = Decoder{}.decode(file, "study.png", {}, image);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error(),
            "[data.png] study.png: expected a complete PNG image, got end of stream; try fetching the file again");
}

}  // namespace
}  // namespace roentgen::data
