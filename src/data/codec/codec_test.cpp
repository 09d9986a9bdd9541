// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detection of formats, limits, and error messages for files that are no images.
#include "data/codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/codec/channels.h"
#include "data/codec/codec_testing.h"

namespace roentgen::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::byte> small_png() {
  return encode_test_png({.width_px = 40, .height_px = 30, .samples = smooth_bytes(40, 30, 1)});
}
std::vector<std::byte> small_jpeg() {
  return encode_test_jpeg({.width_px = 40, .height_px = 30, .samples = smooth_bytes(40, 30, 1)});
}

// A PNG file with a valid signature and header; its pixel data must never be read.
std::vector<std::byte> png_header(std::uint32_t width, std::uint32_t height) {
  std::vector<std::byte> file = encode_test_png({.width_px = 1, .height_px = 1, .samples = {std::byte{0}}});
  for (std::size_t i = 0; i < 4; ++i) {
    file[16 + i] = static_cast<std::byte>(width >> (24 - 8 * i));
    file[20 + i] = static_cast<std::byte>(height >> (24 - 8 * i));
  }
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= std::to_integer<std::uint32_t>(file[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  for (std::size_t i = 0; i < 4; ++i) file[29 + i] = static_cast<std::byte>(~crc >> (24 - 8 * i));
  return file;
}

std::string error_of(const std::vector<std::byte>& file, const DecodeOptions& options = {}) {
  Decoder decoder;
  Image image;
  const Status status = decoder.decode(file, "study.png", options, image);
  return status ? "no error" : status.error();
}

TEST(Codec, finds_the_format_by_content) {
  EXPECT_EQ(read_info(small_png(), "x.jpeg").value().format, "png");
  EXPECT_EQ(read_info(small_jpeg(), "x.png").value().format, "jpeg");
}

TEST(Codec, names_all_formats) { EXPECT_EQ(codec_names(), "PNG, JPEG or DICOM"); }

TEST(Codec, reads_the_header) {
  const Result<ImageInfo> info = read_info(small_png(), "x");
  ASSERT_TRUE(info.ok()) << info.error();
  EXPECT_EQ(info.value().width_px, 40);
  EXPECT_EQ(info.value().height_px, 30);
  EXPECT_EQ(info.value().channels, 1);
  EXPECT_EQ(info.value().bits, 8);
  EXPECT_EQ(info.value().colour, "gray");
}

TEST(Codec, says_of_an_empty_file_that_it_is_empty) {
  EXPECT_EQ(
      error_of({}),
      "[data.codec] study.png: expected a PNG, JPEG or DICOM image, got an empty file; try fetching the file again");
}

TEST(Codec, says_what_a_file_is_that_is_no_picture) {
  EXPECT_THAT(error_of(std::vector<std::byte>(1000)), HasSubstr("got 1000 zero bytes"));
  EXPECT_THAT(error_of(as_bytes("GIF89a....")), HasSubstr("got a GIF image"));
  EXPECT_THAT(error_of(as_bytes("version https://git-lfs.github.com/spec/v1")), HasSubstr("got a Git LFS pointer"));
  EXPECT_THAT(error_of(as_bytes("Image Index,Finding Labels")), HasSubstr("got text that begins with \"Image In\""));
  EXPECT_THAT(error_of(as_bytes("\x01\x02\x03")), HasSubstr("got bytes that begin with 01 02 03"));
}

TEST(Codec, refuses_a_huge_png_header_by_its_size) {
  const std::string expected =
      "[data.png] study.png: expected at most 268435456 pixels, got 100000x100000; try "
      "a smaller copy of the image";
  EXPECT_EQ(error_of(png_header(100000, 100000)), expected);
  EXPECT_EQ(read_info(png_header(100000, 100000), "study.png").error(), expected);
}

TEST(Codec, refuses_a_huge_jpeg_header_by_its_size) {
  std::vector<std::byte> file = small_jpeg();
  for (std::size_t i = 2; i + 8 < file.size(); ++i) {
    if (file[i] != std::byte{0xFF} || file[i + 1] != std::byte{0xC0}) continue;
    for (std::size_t k = 5; k < 9; ++k) file[i + k] = std::byte{0xFE};
  }
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("[data.jpeg]"), HasSubstr("got 65278x65278")));
}

TEST(Codec, refuses_a_png_header_of_no_pixels) { EXPECT_THAT(error_of(png_header(0, 5)), HasSubstr("width")); }

TEST(Codec, counts_bytes_of_the_channels_asked_for) {
  DecodeOptions options;
  options.limits.max_bytes = 2000;  // allows 40 x 30 x 1 bytes, but not x 3
  EXPECT_EQ(error_of(small_png(), options), "no error");
  options.channels = Channels::Rgb;
  EXPECT_THAT(error_of(small_png(), options), HasSubstr("expected at most 2000 bytes of pixels, got 3600"));
}

TEST(Codec, reuses_the_memory_of_the_image) {
  Decoder decoder;
  Image image(ImageLayout{.width_px = 100, .height_px = 100});
  const std::byte* before = image.bytes().data();
  ASSERT_TRUE(decoder.decode(small_png(), "x", {}, image).ok());
  EXPECT_EQ(image.bytes().data(), before);
  EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 40, .height_px = 30}));
}

TEST(Luma, is_the_sample_itself_where_all_three_are_equal) {
  for (std::uint32_t v = 0; v < 65536; ++v) ASSERT_EQ(luma(v, v, v), v);
}

// Expected values from Pillow 9.4: Image.new("RGB", (1, 1), (r, g, b)).convert("L").getpixel((0, 0))
TEST(Luma, rounds_as_pillow_does) {
  EXPECT_EQ(luma(255, 0, 0), 76U);
  EXPECT_EQ(luma(0, 255, 0), 150U);
  EXPECT_EQ(luma(0, 0, 255), 29U);
  EXPECT_EQ(luma(12, 200, 99), 132U);
}

}  // namespace
}  // namespace roentgen::data
