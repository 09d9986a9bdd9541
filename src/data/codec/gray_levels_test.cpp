// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/gray_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace roentgen::data {
namespace {

// Formula of PS3.3 C.11.2.1.2 as the standard states it, with ymin = 0 and ymax = 1.
double standard_linear(double x, double c, double w) {
  if (x <= c - 0.5 - (w - 1) / 2) return 0.0;
  if (x > c - 0.5 + (w - 1) / 2) return 1.0;
  return (x - (c - 0.5)) / (w - 1) + 0.5;
}

std::vector<std::uint32_t> every_code(int bits) { return std::vector<std::uint32_t>(std::size_t{1} << bits, 1); }

GrayTable table_of(const GrayMeaning& meaning, Intensity intensity) {
  return gray_table(meaning, intensity, every_code(meaning.bits_stored));
}

TEST(Window, linear_is_the_standards) {
  for (const double width : {1.0, 2.0, 100.0, 4096.0}) {
    for (const double center : {-40.0, 0.0, 50.0, 2048.0}) {
      for (double x = -5000.0; x <= 5000.0; x += 0.5) {
        ASSERT_NEAR(apply_window({.center = center, .width = width}, x), standard_linear(x, center, width), 1e-12)
            << center << " " << width << " " << x;
      }
    }
  }
}

// Example in PS3.3 C.11.2.1.2.1: c = 2048, w = 4096 maps 0 to 0 and 4095 to the maximum; w = 1 is a threshold.
TEST(Window, linear_has_the_standards_examples) {
  EXPECT_EQ(apply_window({.center = 2048, .width = 4096}, 0), 0.0);
  EXPECT_EQ(apply_window({.center = 2048, .width = 4096}, 4095), 1.0);
  EXPECT_EQ(apply_window({.center = 2048, .width = 1}, 2047), 0.0);
  EXPECT_EQ(apply_window({.center = 2048, .width = 1}, 2048), 1.0);
  EXPECT_EQ(apply_window({.center = 0, .width = 100}, -50), 0.0);
  EXPECT_EQ(apply_window({.center = 0, .width = 100}, 49), 1.0);
  EXPECT_EQ(apply_window({.center = 0, .width = 100}, -0.5), 0.5);
}

TEST(Window, linear_exact_is_the_standards) {
  const VoiWindow window{.center = 10, .width = 4, .function = VoiFunction::LinearExact};
  EXPECT_EQ(apply_window(window, 8.0), 0.0);
  EXPECT_EQ(apply_window(window, 9.0), 0.25);
  EXPECT_EQ(apply_window(window, 10.0), 0.5);
  EXPECT_EQ(apply_window(window, 12.0), 1.0);
  EXPECT_EQ(apply_window(window, 12.1), 1.0);
  EXPECT_EQ(apply_window({.center = 10, .width = 0.5, .function = VoiFunction::LinearExact}, 10.125), 0.75);
}

TEST(Window, sigmoid_is_the_standards) {
  const VoiWindow window{.center = 100, .width = 40, .function = VoiFunction::Sigmoid};
  for (double x = 0.0; x <= 200.0; x += 1.0) {
    ASSERT_NEAR(apply_window(window, x), 1.0 / (1.0 + std::exp(-4.0 * (x - 100.0) / 40.0)), 1e-15);
  }
}

TEST(Window, is_defined_by_its_width) {
  EXPECT_TRUE(is_defined({.center = 1, .width = 1}));
  EXPECT_FALSE(is_defined({.center = 1, .width = 0.5}));
  EXPECT_TRUE(is_defined({.center = 1, .width = 0.5, .function = VoiFunction::LinearExact}));
  EXPECT_FALSE(is_defined({.center = 1, .width = 0.0, .function = VoiFunction::Sigmoid}));
  EXPECT_FALSE(is_defined({.center = NAN, .width = 10}));
}

TEST(GrayTable, stored_is_the_code_in_the_order_of_values) {
  const GrayTable plain = table_of({.bits_stored = 12}, Intensity::Stored);
  EXPECT_EQ(plain.bits, 16);
  EXPECT_EQ(plain.max_value, 4095U);
  EXPECT_EQ(plain.levels[0], 0);
  EXPECT_EQ(plain.levels[4095], 4095);
  const GrayTable has_sign = table_of({.bits_stored = 12, .is_signed = true}, Intensity::Stored);
  EXPECT_EQ(has_sign.levels[0x800], 0) << "-2048";
  EXPECT_EQ(has_sign.levels[0xFFF], 2047) << "-1";
  EXPECT_EQ(has_sign.levels[0x7FF], 4095) << "2047";
  const GrayTable narrow = table_of({.bits_stored = 8, .is_inverted = true}, Intensity::Xrv);
  EXPECT_EQ(narrow.bits, 8);
  EXPECT_EQ(narrow.levels[0], 255);
  EXPECT_EQ(narrow.levels[255], 0);
}

TEST(GrayTable, voi_rescales_before_the_window_and_inverts_behind_it) {
  GrayMeaning meaning{.bits_stored = 12, .slope = 2.0, .intercept = -1000.0};
  meaning.window = VoiWindow{.center = 500.0, .width = 1001.0, .function = VoiFunction::LinearExact};
  const GrayTable table = table_of(meaning, Intensity::Voi);
  EXPECT_EQ(table.max_value, 65535U);
  for (const std::uint32_t stored : {0U, 500U, 750U, 999U, 1000U, 4095U}) {
    const double share = std::clamp((2.0 * stored - 1000.0 - 500.0) / 1001.0 + 0.5, 0.0, 1.0);
    EXPECT_EQ(table.levels[stored], std::lround(65535.0 * share)) << stored;
  }
  meaning.is_inverted = true;
  const GrayTable inverted = table_of(meaning, Intensity::Voi);
  for (std::size_t code = 0; code < 4096; ++code) {
    ASSERT_EQ(inverted.levels[code] + table.levels[code], 65535);
  }
}

TEST(GrayTable, voi_takes_a_table_before_a_window_and_the_nearest_entry_beyond_it) {
  GrayMeaning meaning{.bits_stored = 8};
  meaning.voi = DicomLut{.first = 100, .bits = 10, .entries = {0, 300, 1023}};
  meaning.window = VoiWindow{.center = 128, .width = 2};
  const GrayTable table = table_of(meaning, Intensity::Voi);
  EXPECT_EQ(table.max_value, 1023U);
  EXPECT_EQ(table.levels[0], 0);
  EXPECT_EQ(table.levels[100], 0);
  EXPECT_EQ(table.levels[101], 300);
  EXPECT_EQ(table.levels[102], 1023);
  EXPECT_EQ(table.levels[255], 1023);
}

TEST(GrayTable, a_modality_table_stands_for_slope_and_intercept) {
  GrayMeaning meaning{.bits_stored = 8, .slope = 100.0};
  meaning.modality = DicomLut{.first = 0, .bits = 12, .entries = std::vector<std::uint16_t>(256)};
  std::iota(meaning.modality->entries.rbegin(), meaning.modality->entries.rend(), std::uint16_t{3000});
  const GrayTable whole = table_of(meaning, Intensity::Voi);
  EXPECT_EQ(whole.max_value, 4095U);
  EXPECT_EQ(whole.levels[0], 3255);
  meaning.window = VoiWindow{.center = 3128, .width = 3, .function = VoiFunction::LinearExact};
  const GrayTable table = table_of(meaning, Intensity::Voi);
  EXPECT_EQ(table.levels[255 - 128], 32768) << "3128 is the window's middle";
  EXPECT_EQ(table.levels[0], 65535);
  EXPECT_EQ(table.levels[255], 0);
}

TEST(GrayTable, voi_without_a_table_or_window_is_stored_turned_by_a_negative_slope) {
  const GrayTable table = table_of({.bits_stored = 10, .slope = -1.0, .intercept = 1023.0}, Intensity::Voi);
  EXPECT_EQ(table.max_value, 1023U);
  EXPECT_EQ(table.levels[0], 1023);
  EXPECT_EQ(table.levels[1023], 0);
}

TEST(GrayTable, padding_is_black_whatever_is_inverted) {
  GrayMeaning meaning{.bits_stored = 8, .is_signed = true, .is_inverted = true};
  meaning.padding = std::pair<std::int64_t, std::int64_t>{-128, -127};
  const GrayTable table = table_of(meaning, Intensity::Voi);
  EXPECT_EQ(table.levels[0x80], 0);
  EXPECT_EQ(table.levels[0x81], 0);
  EXPECT_EQ(table.levels[0x82], 253);
  EXPECT_EQ(table_of(meaning, Intensity::Stored).levels[0x80], 255);
}

TEST(GrayTable, nih_is_voi_in_8_bits) {
  GrayMeaning meaning{.bits_stored = 12};
  meaning.window = VoiWindow{.center = 2000, .width = 3000};
  const GrayTable wide = table_of(meaning, Intensity::Voi);
  const GrayTable table = table_of(meaning, Intensity::Nih);
  EXPECT_EQ(table.bits, 8);
  for (std::size_t code = 0; code < 4096; ++code) {
    ASSERT_NEAR(table.levels[code], wide.levels[code] / 257.0, 0.5 + 1e-9);
  }
}

// Expected values by hand. Stored values 1000 to 1002 become 0, 127 (truncated from 127.5) and 255. Equalisation maps
// each to 255 * (pixels up to this level - pixels at the first level) / (all pixels - pixels at the first level).
TEST(GrayTable, mimic_jpg_cuts_to_8_bits_inverts_and_equalises) {
  std::vector<std::uint32_t> counts(4096, 0);
  counts[1000] = 2;
  counts[1001] = 1;
  counts[1002] = 1;
  GrayMeaning meaning{.bits_stored = 12};
  const GrayTable table = gray_table(meaning, Intensity::MimicJpg, counts);
  EXPECT_EQ(table.bits, 8);
  EXPECT_EQ(table.levels[1000], 0);
  EXPECT_EQ(table.levels[1001], 128) << "255 * 1 / 2, half to even";
  EXPECT_EQ(table.levels[1002], 255);
  meaning.is_inverted = true;
  const GrayTable inverted = gray_table(meaning, Intensity::MimicJpg, counts);
  EXPECT_EQ(inverted.levels[1002], 0);
  EXPECT_EQ(inverted.levels[1001], 85) << "255 * 1 / 3";
  EXPECT_EQ(inverted.levels[1000], 255);
}

TEST(GrayTable, chexpert_divides_by_the_greatest_value) {
  std::vector<std::uint32_t> counts(4096, 0);
  counts[1000] = 1;
  counts[1999] = 1;
  counts[2000] = 2;
  const GrayTable table = gray_table({.bits_stored = 12}, Intensity::Chexpert, counts);
  EXPECT_EQ(table.levels[1000], 0);
  EXPECT_EQ(table.levels[1999], 255) << "rounded to 255, as 2000 is: no cutting here";
  EXPECT_EQ(table.levels[2000], 255);
}

TEST(GrayTable, a_flat_picture_stays_flat) {
  std::vector<std::uint32_t> counts(256, 0);
  counts[77] = 9;
  EXPECT_EQ(gray_table({.bits_stored = 8}, Intensity::MimicJpg, counts).levels[77], 0);
  EXPECT_EQ(gray_table({.bits_stored = 8}, Intensity::Chexpert, counts).levels[77], 255);
  counts[77] = 0;
  counts[0] = 9;
  EXPECT_EQ(gray_table({.bits_stored = 8}, Intensity::Chexpert, counts).levels[0], 0);
}

TEST(Intensity, is_known_by_its_name) {
  for (int i = 0; i < 6; ++i) {
    const auto intensity = static_cast<Intensity>(i);
    EXPECT_EQ(parse_intensity(name_of(intensity)), intensity);
  }
  EXPECT_THROW(static_cast<void>(parse_intensity("lung")), ConfigError);
  EXPECT_EQ(intensity_names(), "stored, voi, nih, mimic-jpg, chexpert, xrv");
}

}  // namespace
}  // namespace roentgen::data
