// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Written files are JPEGs of the right size and nearly the right pixels, as TurboJPEG decodes them.
#include "io/jpeg_writer.h"

#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <cmath>

#include "core/error.h"
#include "core/unique_handle.h"

namespace roentgen::io {
namespace {

std::vector<std::uint8_t> decode(std::span<const std::byte> bytes, int format, int& width, int& height) {
  const UniqueHandle<void, tjDestroy> decoder(tjInitDecompress());
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int sampling = 0, colours = 0;
  EXPECT_EQ(tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling, &colours), 0);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height * tjPixelSize[format]));
  EXPECT_EQ(tjDecompress2(decoder.get(), data, bytes.size(), pixels.data(), width, 0, height, format, 0), 0);
  return pixels;
}

TEST(EncodeJpeg, gives_back_nearly_the_same_pixels) {
  for (const int channels : {1, 3}) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < 21; ++y) {
      for (int x = 0; x < 37; ++x) {
        for (int c = 0; c < channels; ++c) pixels.push_back(static_cast<std::uint8_t>(4 * x + 3 * y + 20 * c));
      }
    }
    int width = 0, height = 0;
    const auto back = decode(encode_jpeg({.width_px = 37, .height_px = 21, .channels = channels, .pixels = pixels}, 95),
                             channels == 1 ? TJPF_GRAY : TJPF_RGB, width, height);
    ASSERT_EQ(width, 37);
    ASSERT_EQ(height, 21);
    double sum = 0.0;
    for (std::size_t i = 0; i < pixels.size(); ++i) sum += std::abs(double{pixels[i] * 1.0} - back[i]);
    EXPECT_LT(sum / static_cast<double>(pixels.size()), 2.0) << channels;  // about 0.5 for smooth pixels at quality 95
  }
}

TEST(EncodeJpeg, refuses_what_is_no_image) {
  const std::vector<std::uint8_t> pixels(6);
  EXPECT_THROW((void)encode_jpeg({.width_px = 3, .height_px = 3, .pixels = pixels}), ShapeError);
  EXPECT_THROW((void)encode_jpeg({.width_px = 3, .height_px = 1, .channels = 2, .pixels = pixels}), ShapeError);
  EXPECT_THROW((void)encode_jpeg({.width_px = 0, .height_px = 2, .pixels = {}}), ShapeError);
  EXPECT_THROW((void)encode_jpeg({.width_px = 3, .height_px = 2, .pixels = pixels}, 101), ConfigError);
}

}  // namespace
}  // namespace roentgen::io
