// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Creates image files for tests: any PNG that libspng can write, and JPEG by TurboJPEG. Only tests include this file.
#pragma once

#include <gtest/gtest.h>
#include <spng.h>
#include <turbojpeg.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/unique_handle.h"

namespace roentgen::data {

/// Description of a PNG to write. Samples are as libspng expects them: native byte order for 16 bits, packed below 8
/// bits.
struct TestPng {
  std::uint32_t width_px = 1;
  std::uint32_t height_px = 1;
  std::uint8_t colour_type = SPNG_COLOR_TYPE_GRAYSCALE;
  std::uint8_t bit_depth = 8;
  std::uint8_t interlace = SPNG_INTERLACE_NONE;
  std::vector<std::byte> samples;
  std::vector<spng_plte_entry> palette;
  /// Alpha values of the first palette entries.
  std::vector<std::uint8_t> palette_alpha;
};

inline void expect_spng(int error) {
  if (error != 0) throw std::runtime_error(spng_strerror(error));
}

inline std::vector<std::byte> encode_test_png(const TestPng& png) {
  const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(SPNG_CTX_ENCODER));
  expect_spng(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
  spng_ihdr header{.width = png.width_px, .height = png.height_px, .bit_depth = png.bit_depth};
  header.color_type = png.colour_type;
  header.interlace_method = png.interlace;
  expect_spng(spng_set_ihdr(context.get(), &header));
  if (!png.palette.empty()) {
    spng_plte palette{.n_entries = static_cast<std::uint32_t>(png.palette.size())};
    std::copy(png.palette.begin(), png.palette.end(), palette.entries);
    expect_spng(spng_set_plte(context.get(), &palette));
  }
  if (!png.palette_alpha.empty()) {
    spng_trns alpha{};
    alpha.n_type3_entries = static_cast<std::uint32_t>(png.palette_alpha.size());
    std::copy(png.palette_alpha.begin(), png.palette_alpha.end(), alpha.type3_alpha);
    expect_spng(spng_set_trns(context.get(), &alpha));
  }
  expect_spng(
      spng_encode_image(context.get(), png.samples.data(), png.samples.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
  std::size_t bytes = 0;
  int error = 0;
  void* file = spng_get_png_buffer(context.get(), &bytes, &error);
  expect_spng(error);
  const auto* begin = static_cast<const std::byte*>(file);
  std::vector<std::byte> result(begin, begin + bytes);
  std::free(file);
  return result;
}

/// A JPEG of `format` pixels (TJPF_GRAY, TJPF_RGB, TJPF_CMYK).
struct TestJpeg {
  int width_px = 1;
  int height_px = 1;
  int format = TJPF_GRAY;
  int subsampling = TJSAMP_GRAY;
  int quality = 90;
  int flags = 0;
  std::vector<std::byte> samples;
};

inline std::vector<std::byte> encode_test_jpeg(const TestJpeg& jpeg) {
  const UniqueHandle<void, tjDestroy> handle(tjInitCompress());
  unsigned char* file = nullptr;
  unsigned long bytes = 0;
  const int error =
      tjCompress2(handle.get(), reinterpret_cast<const unsigned char*>(jpeg.samples.data()), jpeg.width_px, 0,
                  jpeg.height_px, jpeg.format, &file, &bytes, jpeg.subsampling, jpeg.quality, jpeg.flags);
  if (error != 0) throw std::runtime_error(tjGetErrorStr2(handle.get()));
  const auto* begin = reinterpret_cast<const std::byte*>(file);
  std::vector<std::byte> result(begin, begin + bytes);
  tjFree(file);
  return result;
}

/// Random bytes, determined by the seed.
inline std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next_u32() & 0xFFU);
  return bytes;
}

/// A smooth picture (height, width, channels) with a little noise, so that files compress and use several PNG filters.
inline std::vector<std::byte> smooth_bytes(std::size_t width, std::size_t height, std::size_t channels) {
  Random random(7, RandomStage::Test);
  std::vector<std::byte> bytes;
  bytes.reserve(width * height * channels);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width * channels; ++x) {
      bytes.push_back(static_cast<std::byte>((x * 2 + y * 3 + random.below(4)) & 0xFFU));
    }
  }
  return bytes;
}

inline std::vector<std::byte> as_bytes(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace roentgen::data
