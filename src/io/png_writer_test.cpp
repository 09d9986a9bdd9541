// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/png_writer.h"

#include <gtest/gtest.h>
#include <spng.h>

#include <string>
#include <tuple>

#include "core/error.h"
#include "core/random.h"
#include "core/unique_handle.h"
#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {
std::vector<std::byte> random_bytes(std::size_t size) {
  Random random(5, RandomStage::Test);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

/// Decodes an encoded image; checks that its header matches `image`.
std::vector<std::byte> decoded(std::span<const std::byte> encoded, const PngImage& image) {
  const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(0));
  EXPECT_EQ(spng_set_png_buffer(context.get(), encoded.data(), encoded.size()), 0);
  spng_ihdr header{};
  EXPECT_EQ(spng_get_ihdr(context.get(), &header), 0);
  EXPECT_EQ(header.width, image.width_px);
  EXPECT_EQ(header.height, image.height_px);
  EXPECT_EQ(header.bit_depth, image.bits);
  EXPECT_EQ(header.color_type, image.channels == 1 ? 0 : (image.channels == 3 ? 2 : 6));
  EXPECT_EQ(header.interlace_method, 0);
  std::vector<std::byte> pixels(image.pixels.size());
  EXPECT_EQ(spng_decode_image(context.get(), pixels.data(), pixels.size(), SPNG_FMT_PNG, 0), 0);
  return pixels;
}

TEST(PngWriter, keeps_every_pixel_of_every_form) {
  for (const int channels : {1, 3, 4}) {
    for (const int bits : {8, 16}) {
      for (const auto& [width, height] : {std::pair{1, 1}, std::pair{1, 9}, std::pair{31, 1}, std::pair{17, 23}}) {
        const std::vector<std::byte> pixels =
            random_bytes(static_cast<std::size_t>(width * height * channels * bits / 8));
        const PngImage image{
            .width_px = width, .height_px = height, .channels = channels, .bits = bits, .pixels = pixels};
        EXPECT_EQ(decoded(encode_png(image), image), pixels)
            << width << "x" << height << ", " << channels << " channels of " << bits << " bits";
      }
    }
  }
}

// The sample 0x0102 must be stored as 01 02 on machines of any byte order, which a small file shows.
TEST(PngWriter, takes_16_bit_samples_in_the_machines_order) {
  const std::uint16_t sample = 0x0102;
  const PngImage image{
      .width_px = 1, .height_px = 1, .channels = 1, .bits = 16, .pixels = std::as_bytes(std::span(&sample, 1))};
  const std::vector<std::byte> encoded = encode_png(image);
  const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(0));
  ASSERT_EQ(spng_set_png_buffer(context.get(), encoded.data(), encoded.size()), 0);
  std::array<std::uint8_t, 2> raw{};
  ASSERT_EQ(spng_decode_image(context.get(), raw.data(), raw.size(), SPNG_FMT_RAW, 0), 0);
  EXPECT_EQ(raw, (std::array<std::uint8_t, 2>{1, 2}));
}

TEST(PngWriter, says_how_many_bits_are_significant) {
  const std::vector<std::byte> pixels = random_bytes(std::size_t{4} * 4 * 2);
  PngImage image{.width_px = 4, .height_px = 4, .bits = 16, .pixels = pixels};
  const auto bits_of = [](std::span<const std::byte> encoded) {
    const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(0));
    EXPECT_EQ(spng_set_png_buffer(context.get(), encoded.data(), encoded.size()), 0);
    spng_sbit bits{};
    return spng_get_sbit(context.get(), &bits) == 0 ? int{bits.grayscale_bits} : 0;
  };
  EXPECT_EQ(bits_of(encode_png(image)), 0) << "no chunk";
  image.significant_bits = 12;
  EXPECT_EQ(bits_of(encode_png(image)), 12);
  EXPECT_EQ(decoded(encode_png(image), image), pixels);
  image.significant_bits = 17;
  EXPECT_THROW((void)encode_png(image), ShapeError);
}

TEST(PngWriter, gives_the_same_bytes_for_the_same_pixels) {
  const std::vector<std::byte> pixels = random_bytes(64 * 64);
  const PngImage image{.width_px = 64, .height_px = 64, .pixels = pixels};
  EXPECT_EQ(encode_png(image), encode_png(image));
}

TEST(PngWriter, filters_rows) {
  std::vector<std::byte> ramp;
  for (int y = 0; y < 256; ++y) {
    for (int x = 0; x < 256; ++x) ramp.push_back(static_cast<std::byte>(x * y / 7 + x));
  }
  EXPECT_LT(encode_png({.width_px = 256, .height_px = 256, .pixels = ramp}).size(), ramp.size() / 4)
      << "without filters deflate alone does far worse on a ramp";
}

TEST(PngWriter, refuses_sizes_and_forms_that_do_not_fit) {
  const std::vector<std::byte> pixels(12);
  const auto with = [&pixels](std::int64_t width, std::int64_t height, int channels, int bits) {
    return encode_png({.width_px = width, .height_px = height, .channels = channels, .bits = bits, .pixels = pixels});
  };
  EXPECT_NO_THROW(static_cast<void>(with(4, 3, 1, 8)));
  for (const auto& [width, height, channels, bits] : {std::tuple<std::int64_t, std::int64_t, int, int>{4, 4, 1, 8},
                                                      {0, 3, 1, 8},
                                                      {4, -3, 1, 8},
                                                      {6, 1, 2, 8},
                                                      {12, 1, 1, 4},
                                                      {12, 1, 1, 16},
                                                      {std::int64_t{1} << 31, 1, 1, 8},
                                                      {0x7fffffff, 0x7fffffff, 4, 16}}) {
    EXPECT_THROW(static_cast<void>(with(width, height, channels, bits)), ShapeError)
        << width << "x" << height << ", " << channels << " channels of " << bits << " bits";
  }
  EXPECT_THROW(static_cast<void>(encode_png({.width_px = 4, .height_px = 3, .pixels = pixels}, 0)), ConfigError);
  EXPECT_THROW(static_cast<void>(encode_png({.width_px = 4, .height_px = 3, .pixels = pixels}, 10)), ConfigError);
}

TEST(PngWriter, writes_the_encoded_bytes_or_nothing) {
  const testing::TemporaryFolder folder;
  const std::vector<std::byte> pixels = random_bytes(6);
  const PngImage image{.width_px = 3, .height_px = 2, .pixels = pixels};
  write_png(folder.path() / "a.png", image);
  EXPECT_EQ(read_file(folder.path() / "a.png").or_throw(), encode_png(image));
  EXPECT_THROW(write_png(folder.path() / "absent" / "b.png", image), DataError);
  EXPECT_EQ(testing::listing(folder.path()), "a.png");
}
}  // namespace
}  // namespace roentgen::io
