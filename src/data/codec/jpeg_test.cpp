// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "data/codec/codec.h"
#include "data/codec/codec_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

constexpr int kWidth = 61;
constexpr int kHeight = 47;

std::vector<std::byte> gray_file(int flags = 0) {
  return encode_test_jpeg(
      {.width_px = kWidth, .height_px = kHeight, .flags = flags, .samples = smooth_bytes(kWidth, kHeight, 1)});
}
std::vector<std::byte> colour_file(int subsampling = TJSAMP_444) {
  return encode_test_jpeg({.width_px = kWidth,
                           .height_px = kHeight,
                           .format = TJPF_RGB,
                           .subsampling = subsampling,
                           .quality = 100,
                           .samples = smooth_bytes(kWidth, kHeight, 3)});
}

Image decode(const std::vector<std::byte>& file, Channels channels = Channels::FromFile) {
  Image image;
  const Status status = Decoder{}.decode(file, "x", {.channels = channels}, image);
  EXPECT_TRUE(status.ok()) << status.error();
  return image;
}

std::string error_of(const std::vector<std::byte>& file) {
  Image image;
  const Status status = Decoder{}.decode(file, "study.jpeg", {}, image);
  return status ? "no error" : status.error();
}

int largest_difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i])));
  }
  return largest;
}

TEST(Jpeg, keeps_a_constant_gray_exactly) {
  const std::vector<std::byte> samples(64 * 64, std::byte{130});
  const Image image = decode(encode_test_jpeg({.width_px = 64, .height_px = 64, .quality = 100, .samples = samples}));
  EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 64, .height_px = 64}));
  EXPECT_TRUE(std::ranges::all_of(image.bytes(), [](std::byte b) { return b == std::byte{130}; }));
}

// At quality 100 quantisation steps are 1. Colour conversion and the DCT then change a sample by a few levels at most.
TEST(Jpeg, decodes_colour_close_to_what_was_written) {
  const Image image = decode(colour_file());
  ASSERT_EQ(image.channels(), 3);
  EXPECT_LE(largest_difference(image.bytes(), smooth_bytes(kWidth, kHeight, 3)), 6);
}

TEST(Jpeg, fills_three_channels_from_gray) {
  const Image gray = decode(gray_file());
  const Image rgb = decode(gray_file(), Channels::Rgb);
  ASSERT_EQ(rgb.channels(), 3);
  for (std::size_t i = 0; i < rgb.bytes().size(); ++i) ASSERT_EQ(rgb.bytes()[i], gray.bytes()[i / 3]);
}

TEST(Jpeg, gives_y_of_colour_when_asked_for_gray) {
  const std::vector<std::byte> gray_samples = smooth_bytes(kWidth, kHeight, 1);
  std::vector<std::byte> samples;
  for (const std::byte b : gray_samples) samples.insert(samples.end(), 3, b);
  const TestJpeg spec{.width_px = kWidth, .height_px = kHeight, .format = TJPF_RGB, .subsampling = TJSAMP_420};
  TestJpeg colour = spec;
  colour.samples = samples;
  const std::vector<std::byte> file = encode_test_jpeg(colour);
  // With R = G = B the chroma is exactly neutral, so Y equals every colour of the full decode.
  const Image gray = decode(file, Channels::Gray);
  const Image rgb = decode(file);
  for (std::size_t i = 0; i < rgb.bytes().size(); ++i) ASSERT_EQ(rgb.bytes()[i], gray.bytes()[i / 3]);
}

TEST(Jpeg, reads_progressive_files) {
  const Image baseline = decode(gray_file());
  const Image progressive = decode(gray_file(TJFLAG_PROGRESSIVE));
  EXPECT_EQ(largest_difference(baseline.bytes(), progressive.bytes()), 0);
}

TEST(Jpeg, reports_its_header) {
  const ImageInfo info = read_info(colour_file(TJSAMP_420), "x").value();
  EXPECT_EQ(info.colour, "ycbcr");
  EXPECT_EQ(info.width_px, kWidth);
  EXPECT_EQ(info.height_px, kHeight);
  EXPECT_EQ(info.channels, 3);
}

// Position of the marker of the frame header.
std::size_t frame_of(const std::vector<std::byte>& file) {
  for (std::size_t i = 2; i + 1 < file.size(); ++i) {
    if (file[i] == std::byte{0xFF} && file[i + 1] == std::byte{0xC0}) return i;
  }
  throw std::runtime_error("no baseline frame");
}

TEST(Jpeg, may_sample_chroma_in_ways_that_have_no_name) {
  std::vector<std::byte> file = colour_file();
  // Changes the sampling factors of the three components from 1x1 to 3x1.
  for (std::size_t component = 0; component < 3; ++component)
    file[frame_of(file) + 11 + 3 * component] = std::byte{0x31};
  const Result<ImageInfo> info = read_info(file, "x");
  ASSERT_TRUE(info.ok()) << info.error();
  EXPECT_EQ(info.value().colour, "ycbcr");
}

TEST(Jpeg, of_two_components_is_refused) {
  std::vector<std::byte> file = colour_file();
  const std::size_t frame = frame_of(file);
  // The third component's three bytes remain after the shortened segment. libjpeg warns of them before it fails.
  file[frame + 3] = std::byte{8 + 3 * 2};
  file[frame + 9] = std::byte{2};
  EXPECT_THAT(error_of(file), HasSubstr("[data.jpeg] study.jpeg: expected a complete 8-bit JPEG image"));
}

TEST(Jpeg, refuses_cmyk_by_name) {
  const std::vector<std::byte> file = encode_test_jpeg({.width_px = kWidth,
                                                        .height_px = kHeight,
                                                        .format = TJPF_CMYK,
                                                        .subsampling = TJSAMP_444,
                                                        .samples = smooth_bytes(kWidth, kHeight, 4)});
  EXPECT_EQ(error_of(file), "[data.jpeg] study.jpeg: expected a gray or RGB image, got CMYK; try converting it to RGB");
}

TEST(Jpeg, that_ends_early_is_refused) {
  std::vector<std::byte> file = gray_file();
  file.resize(file.size() - 32);
  EXPECT_EQ(error_of(file),
            "[data.jpeg] study.jpeg: expected a complete JPEG image, got Premature end of JPEG file; try fetching the "
            "file again");
}

TEST(Jpeg, of_a_header_alone_is_refused) {
  std::vector<std::byte> file = gray_file();
  file.resize(100);
  EXPECT_THAT(error_of(file), HasSubstr("[data.jpeg] study.jpeg: expected a complete 8-bit JPEG image"));
}

TEST(Jpeg, with_stray_bytes_before_a_marker_is_read) {
  const std::vector<std::byte> file = gray_file();
  std::vector<std::byte> padded(file.begin(), file.end() - 2);
  padded.insert(padded.end(), 5, std::byte{0x55});
  padded.insert(padded.end(), file.end() - 2, file.end());
  const Image image = decode(padded);
  EXPECT_EQ(largest_difference(image.bytes(), decode(file).bytes()), 0);
}

// Puts meaningless bytes in place of the restart markers.
TEST(Jpeg, with_stray_bytes_in_place_of_restart_markers_is_refused) {
  const auto insert_before_end = [](std::vector<std::byte>& file) {
    file.insert(file.end() - 2, 12, std::byte{0x55});  // more than libjpeg reads ahead
  };
  for (const bool is_colour : {false, true}) {
    ::setenv("TJ_RESTART", "1", 1);  // one restart marker per row of units
    std::vector<std::byte> whole = is_colour ? colour_file(TJSAMP_420) : gray_file();
    ::unsetenv("TJ_RESTART");
    const auto marker = as_bytes("\xFF\xD1");
    std::vector<std::byte> early(whole.begin(), std::search(whole.begin(), whole.end(), marker.begin(), marker.end()));
    early.insert(early.end(), {std::byte{0xFF}, std::byte{0xD9}});
    insert_before_end(early);
    EXPECT_THAT(error_of(early), HasSubstr("got data that end too early, before the last restart marker"));
    const Image image = decode(whole);
    insert_before_end(whole);
    EXPECT_TRUE(std::ranges::equal(decode(whole).bytes(), image.bytes()));
  }
}

std::vector<std::byte> with_stray_bytes(std::vector<std::byte> file) {
  file.insert(file.begin() + 20, 5, std::byte{0x55});
  return file;
}

TEST(Jpeg, with_stray_bytes_between_segments_is_read) {
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    const Image image = decode(with_stray_bytes(gray_file(flags)));
    EXPECT_EQ(largest_difference(image.bytes(), decode(gray_file(flags)).bytes()), 0);
  }
}

TEST(Jpeg, with_stray_bytes_that_is_cut_is_refused) {
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    std::vector<std::byte> file = with_stray_bytes(gray_file(flags));
    file.resize(file.size() / 2);
    EXPECT_THAT(error_of(file), HasSubstr("Premature end of JPEG file"));
  }
}

TEST(Jpeg, with_stray_bytes_and_damage_in_its_scan_is_refused) {
  std::vector<std::byte> file = with_stray_bytes(gray_file());
  const std::size_t middle = file.size() * 3 / 4;
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(middle), 16, std::byte{0x7F});
  EXPECT_THAT(error_of(file),
              HasSubstr("[data.jpeg] study.jpeg: expected a complete JPEG image, got Corrupt JPEG data"));
  file = with_stray_bytes(gray_file());
  file[middle] = std::byte{0xFF};
  file[middle + 1] = std::byte{0xD9};
  EXPECT_THAT(error_of(file), HasSubstr("premature end of data segment"));
}

TEST(Jpeg, of_an_unknown_jfif_revision_is_read_and_refused_when_cut) {
  std::vector<std::byte> file = gray_file();
  ASSERT_EQ(file[11], std::byte{1});
  file[11] = std::byte{9};
  EXPECT_EQ(largest_difference(decode(file).bytes(), decode(gray_file()).bytes()), 0);
  file.resize(file.size() / 2);
  EXPECT_THAT(error_of(file), HasSubstr("Premature end of JPEG file"));
}

TEST(Jpeg, of_an_unknown_adobe_transform_is_read) {
  const std::vector<std::byte> plain = colour_file();
  std::vector<std::byte> file(plain.begin(), plain.begin() + 2);
  const std::vector<std::byte> adobe =
      as_bytes(std::string_view("\xFF\xEE\0\x0E"
                                "Adobe\0\x64\0\0\0\0\x07",
                                16));
  file.insert(file.end(), adobe.begin(), adobe.end());
  file.insert(file.end(), plain.begin() + 20, plain.end());  // without the JFIF segment, which overrides Adobe's
  EXPECT_EQ(largest_difference(decode(file).bytes(), decode(plain).bytes()), 0);
}

TEST(Jpeg, with_anything_after_its_end_is_read) {
  std::vector<std::byte> file = gray_file();
  file.insert(file.end(), 100, std::byte{0xFF});
  EXPECT_EQ(error_of(file), "no error");
}

}  // namespace
}  // namespace roentgen::data
