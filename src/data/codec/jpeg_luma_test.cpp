// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// JPEG at reduced size: compares our baseline luma decoder with libjpeg's reduced decode, bit for bit, on every
// instruction set of this machine. Parts are compared with the whole picture, and errors for damage with those at full
// size.
#include "data/codec/jpeg_luma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "data/codec/codec_testing.h"
#include "data/codec/jpeg_baseline.h"
#include "data/codec/jpeg_scan.h"
#include "data/targets_testing.h"

namespace roentgen::data {
namespace {

std::vector<std::byte> libjpeg_luma(const std::vector<std::byte>& file, int reduction, int width_px, int height_px) {
  const UniqueHandle<void, tjDestroy> handle(tjInitDecompress());
  const tjscalingfactor factor{1, reduction};
  const int width = TJSCALED(width_px, factor), height = TJSCALED(height_px, factor);
  std::vector<std::byte> out(static_cast<std::size_t>(width * height));
  const int error = tjDecompress2(handle.get(), reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                                  reinterpret_cast<unsigned char*>(out.data()), width, 0, height, TJPF_GRAY, 0);
  if (error != 0) throw std::runtime_error(tjGetErrorStr2(handle.get()));
  return out;
}

ImageNeed all_of(int reduction, int width_px, int height_px) {
  return {.reduction = reduction, .width_px = width_px, .height_px = height_px};
}

void expect_libjpegs(const std::vector<std::byte>& file, int width_px, int height_px, const std::string& what) {
  DecodeScratch scratch;
  for (const int reduction : {2, 4, 8}) {
    Image image;
    ASSERT_TRUE(decode_reduced_luma(file, all_of(reduction, width_px, height_px), scratch, image)) << what;
    EXPECT_EQ(image.picture(), (ImageLayout{.width_px = width_px, .height_px = height_px}));
    const auto expected = libjpeg_luma(file, reduction, width_px, height_px);
    ASSERT_TRUE(std::ranges::equal(image.bytes(), expected)) << what << " at 1/" << reduction;
  }
}

// The decoder stores both symbols of a lookup before it checks the end of the block.

// At the best quality, noise has all coefficients. After the last coefficient of a block, no end code is written.
TEST(JpegLuma, has_libjpegs_pixels_of_blocks_without_an_end) {
  for (const int width : {8, 24, 257}) {
    const auto samples = random_bytes(static_cast<std::size_t>(width * 40), 5);
    const auto file = encode_test_jpeg({.width_px = width, .height_px = 40, .quality = 100, .samples = samples});
    expect_libjpegs(file, width, 40, "width " + std::to_string(width));
  }
}

// Products such as 1023 times 255 and their sums exceed the 16 bits of libjpeg's own vector code.
TEST(JpegLuma, is_the_same_on_every_target_where_values_are_beyond_16_bits) {
  auto file = encode_test_jpeg({.width_px = 64, .height_px = 64, .quality = 100, .samples = random_bytes(64 * 64, 9)});
  const std::array<std::byte, 2> marker{std::byte{0xFF}, std::byte{0xDB}};
  const auto table = std::ranges::search(file, marker).begin();
  std::fill_n(table + 5, 64, std::byte{255});
  for (const int reduction : {2, 4, 8}) {
    std::vector<std::byte> first;
    on_every_target([&](const char* target) {
      DecodeScratch scratch;
      Image image;
      ASSERT_TRUE(decode_reduced_luma(file, all_of(reduction, 64, 64), scratch, image));
      if (first.empty()) first.assign(image.bytes().begin(), image.bytes().end());
      EXPECT_TRUE(std::ranges::equal(image.bytes(), first)) << target << " at 1/" << reduction;
    });
  }
}

TEST(JpegLuma, has_libjpegs_pixels_of_gray_files_of_every_size) {
  on_every_target([](const char* target) {
    for (int width = 1; width < 40; ++width) {
      const int height = 1 + (7 * width) % 37;
      const auto samples = width % 2 == 0
                               ? random_bytes(static_cast<std::size_t>(width * height), 3)
                               : smooth_bytes(static_cast<std::size_t>(width), static_cast<std::size_t>(height), 1);
      for (const int quality : {1, 30, 75, 95, 100}) {
        const auto file =
            encode_test_jpeg({.width_px = width, .height_px = height, .quality = quality, .samples = samples});
        expect_libjpegs(file, width, height, std::string(target) + " " + std::to_string(width));
      }
    }
  });
}

TEST(JpegLuma, has_libjpegs_pixels_of_colour_files) {
  for (const int subsampling : {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411}) {
    const auto file = encode_test_jpeg({.width_px = 61,
                                        .height_px = 47,
                                        .format = TJPF_RGB,
                                        .subsampling = subsampling,
                                        .samples = smooth_bytes(61, 47, 3)});
    expect_libjpegs(file, 61, 47, "subsampling " + std::to_string(subsampling));
  }
}

TEST(JpegLuma, reads_restart_markers_of_colour_files) {
  ::setenv("TJ_RESTART", "3B", 1);
  const auto file = encode_test_jpeg({.width_px = 150,
                                      .height_px = 47,
                                      .format = TJPF_RGB,
                                      .subsampling = TJSAMP_420,
                                      .samples = smooth_bytes(150, 47, 3)});
  ::unsetenv("TJ_RESTART");
  ASSERT_EQ(read_baseline_jpeg(file).value().restart_units, 3);
  expect_libjpegs(file, 150, 47, "restarts within a row");
}

TEST(JpegLuma, reads_restart_markers) {
  for (const char* interval : {"1B", "3B", "1"}) {
    ::setenv("TJ_RESTART", interval, 1);
    const auto file = encode_test_jpeg({.width_px = 150, .height_px = 47, .samples = smooth_bytes(150, 47, 1)});
    ::unsetenv("TJ_RESTART");
    ASSERT_GT(read_baseline_jpeg(file).value().restart_units, 0);
    expect_libjpegs(file, 150, 47, std::string("every ") + interval);
    // Writes a restart marker with the wrong number.
    auto wrong = file;
    for (std::size_t i = wrong.size() / 2; i + 1 < wrong.size(); ++i) {
      if (wrong[i] == std::byte{0xFF} && wrong[i + 1] >= std::byte{0xD0} && wrong[i + 1] <= std::byte{0xD7}) {
        wrong[i + 1] ^= std::byte{1};
        break;
      }
    }
    DecodeScratch scratch;
    Image image;
    EXPECT_FALSE(decode_reduced_luma(wrong, all_of(2, 150, 47), scratch, image));
  }
}

TEST(JpegLuma, leaves_other_kinds_to_libjpeg) {
  DecodeScratch scratch;
  Image image;
  TestJpeg jpeg{.width_px = 61, .height_px = 47, .samples = smooth_bytes(61, 47, 1)};
  jpeg.flags = TJFLAG_PROGRESSIVE;
  EXPECT_FALSE(decode_reduced_luma(encode_test_jpeg(jpeg), all_of(2, 61, 47), scratch, image));
  EXPECT_FALSE(decode_reduced_luma({}, all_of(2, 61, 47), scratch, image));
}

TEST(JpegLuma, of_a_part_is_that_part_of_the_whole) {
  const auto file = encode_test_jpeg({.width_px = 301, .height_px = 203, .samples = smooth_bytes(301, 203, 1)});
  DecodeScratch scratch;
  Image whole, part;
  for (const int reduction : {2, 4, 8}) {
    ASSERT_TRUE(decode_reduced_luma(file, all_of(reduction, 301, 203), scratch, whole));
    const std::int64_t right = whole.width_px(), bottom = whole.height_px();
    for (const ImageNeed& need :
         {ImageNeed{reduction, 5, 7, 9, 3}, ImageNeed{reduction, 0, 0, 1, 1},
          ImageNeed{reduction, right - 1, bottom - 1, 1, 1}, ImageNeed{reduction, right / 2, 2, right, bottom}}) {
      ASSERT_TRUE(decode_reduced_luma(file, need, scratch, part));
      const ImagePart& at = part.part();
      EXPECT_LE(at.left, need.left);
      EXPECT_LE(at.top, need.top);
      EXPECT_GE(at.left + part.width_px(), std::min(need.left + need.width_px, right));
      EXPECT_GE(at.top + part.height_px(), std::min(need.top + need.height_px, bottom));
      EXPECT_LE(part.width_px(), need.width_px + 14);
      for (std::int64_t y = 0; y < part.height_px(); ++y) {
        for (std::int64_t x = 0; x < part.width_px(); ++x) {
          ASSERT_EQ(part.bytes()[static_cast<std::size_t>(y * part.width_px() + x)],
                    whole.bytes()[static_cast<std::size_t>((y + at.top) * right + x + at.left)]);
        }
      }
    }
  }
}

// A file that is refused at full size must be refused at reduced size with the same message.
TEST(JpegLuma, of_damaged_files_is_refused_as_the_whole_is) {
  constexpr DecodeLimits kLimits{.max_pixels = 1 << 20, .max_bytes = 4U << 20U};
  const auto file = encode_test_jpeg({.width_px = 93, .height_px = 61, .samples = smooth_bytes(93, 61, 1)});
  Decoder decoder;
  Image image;
  int refused = 0, accepted = 0;
  const auto compare = [&](std::span<const std::byte> bytes, const std::string& what) {
    const Status whole = decoder.decode(bytes, "x", {.limits = kLimits}, image);
    for (const int reduction : {2, 8}) {
      const auto need = [&](const ImageLayout& picture) {
        return ImageNeed{reduction, 3, 2, picture.width_px / 16, picture.height_px / 16};
      };
      const Status part = decoder.decode(bytes, "x", {.limits = kLimits, .need = need}, image);
      ASSERT_EQ(part.ok(), whole.ok()) << what << ": " << (part ? "" : part.error()) << (whole ? "" : whole.error());
      if (!part) {
        EXPECT_EQ(part.error(), whole.error()) << what;
      }
      (part ? accepted : refused) += 1;
    }
  };
  for (std::size_t size = 0; size < file.size() - 2; size += size < 700 ? 1 : 5) {
    compare(std::span(file).first(size), "cut to " + std::to_string(size));
  }
  EXPECT_EQ(accepted, 0);
  Random random(11, RandomStage::Test);
  for (int round = 0; round < 3000; ++round) {
    auto damaged = file;
    const auto at = static_cast<std::size_t>(random.below(damaged.size()));
    damaged[at] = static_cast<std::byte>(random.next_u32() & 0xFFU);
    compare(damaged, "byte " + std::to_string(at));
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(accepted, 100);
}

TEST(JpegLuma, is_decoded_whole_where_no_reduction_is_asked_for) {
  const auto file = encode_test_jpeg({.width_px = 30, .height_px = 20, .samples = smooth_bytes(30, 20, 1)});
  Image image, whole;
  const auto need = [](const ImageLayout&) { return ImageNeed{1, 5, 5, 2, 2}; };
  ASSERT_TRUE(Decoder{}.decode(file, "x", {.need = need}, image).ok());
  ASSERT_TRUE(Decoder{}.decode(file, "x", {}, whole).ok());
  EXPECT_TRUE(image.is_whole());
  EXPECT_TRUE(std::ranges::equal(image.bytes(), whole.bytes()));
}

// Compares every entry of the step table with decoding one symbol at a time.
TEST(JpegSteps, are_one_or_two_symbols) {
  const auto file = encode_test_jpeg({.width_px = 16, .height_px = 16, .samples = smooth_bytes(16, 16, 1)});
  const BaselineJpeg jpeg = read_baseline_jpeg(file).value();
  std::vector<JpegStep> steps(1U << JpegCode::kLookBits);
  for (const JpegCode* first : {&*jpeg.dc[0], &*jpeg.ac[0]}) {
    fill_jpeg_steps(*first, *jpeg.ac[0], steps);
    int pairs = 0, ends = 0, longs = 0;
    for (std::size_t bits = 0; bits < steps.size(); ++bits) {
      const JpegStep step = steps[bits];
      const JpegCode::Whole& one = first->whole[bits];
      if (one.skip == 0) {
        EXPECT_EQ(step.least(), one.bits > 0 ? JpegStep::kLong : JpegStep::kNever);
        longs += step.is_long() ? 1 : 0;
        EXPECT_EQ(step.bits(), one.bits);
        if (step.is_long()) {
          EXPECT_EQ((step.first_skip() - 1) * 16 + step.value_bits(), one.value);
        }
        continue;
      }
      EXPECT_EQ(step.first_value(), one.value);
      const bool is_end = step.last_skip() < 0;
      ends += is_end ? 1 : 0;
      if (step.bits() == one.bits) {
        EXPECT_EQ(is_end, one.skip == JpegCode::kEndOfBlock);
        EXPECT_EQ(step.last_value(), one.value);
        EXPECT_EQ(step.last_skip(), is_end ? -JpegStep::kEnd : one.skip);
        EXPECT_EQ(step.least(), is_end ? 0 : one.skip);
        continue;
      }
      ++pairs;
      const JpegCode::Whole& two = jpeg.ac[0]->whole[bits << one.bits & (steps.size() - 1)];
      EXPECT_EQ(step.bits(), one.bits + two.bits);
      EXPECT_EQ(step.last_value(), two.value);
      EXPECT_EQ(step.last_skip(), one.skip + (is_end ? -JpegStep::kEnd : two.skip));
      EXPECT_EQ(step.least(), one.skip + (is_end ? 0 : two.skip));
    }
    EXPECT_GT(pairs, 100);
    EXPECT_GT(ends, 50);
    EXPECT_GT(longs, 20);
  }
}

TEST(JpegCode, refuses_what_is_no_prefix_code) {
  std::array<std::uint8_t, 16> counts{};
  counts[0] = 3;
  const std::array<std::uint8_t, 3> symbols{1, 2, 3};
  EXPECT_FALSE(make_jpeg_code(counts, symbols, JpegBand::Dc));
  counts[0] = 2;
  EXPECT_TRUE(make_jpeg_code(counts, std::span(symbols).first(2), JpegBand::Dc));
  counts[1] = 1;
  EXPECT_FALSE(make_jpeg_code(counts, symbols, JpegBand::Dc)) << "no room left";
}

TEST(JpegCode, refuses_symbols_that_eight_bits_do_not_have) {
  std::array<std::uint8_t, 16> counts{};
  counts[3] = 1;
  for (const auto& [symbol, band, is_known] : {std::tuple{0x0B, JpegBand::Dc, true},
                                               {0x0C, JpegBand::Dc, false},
                                               {0xF0, JpegBand::Ac, true},
                                               {0x0A, JpegBand::Ac, true},
                                               {0x0B, JpegBand::Ac, false},
                                               {0x30, JpegBand::Ac, false}}) {
    const std::array<std::uint8_t, 1> symbols{static_cast<std::uint8_t>(symbol)};
    EXPECT_EQ(make_jpeg_code(counts, symbols, band).has_value(), is_known) << symbol;
  }
}

}  // namespace
}  // namespace roentgen::data
