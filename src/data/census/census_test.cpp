// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/census/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/value.h"
#include "data/codec/codec_testing.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "io/json.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string png_text(const TestPng& png) {
  const auto bytes = encode_test_png(png);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class CensusTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& bytes, Split split = Split::Train, std::string patient = {}) {
    dataset_.samples.push_back(
        {.id = name, .path = folder_.write(name, bytes), .patient = std::move(patient), .split = split});
  }
  /// Returns an 8-bit gray image in which one pixel is `first` and all others are `others`.
  static std::string gray(std::uint8_t first, std::uint8_t others = 0, std::int64_t side = 16) {
    TestPng png{.width_px = static_cast<std::uint32_t>(side), .height_px = static_cast<std::uint32_t>(side)};
    png.samples.assign(static_cast<std::size_t>(side * side), std::byte{others});
    png.samples[0] = std::byte{first};
    return png_text(png);
  }
  [[nodiscard]] Census census(CensusDepth depth = CensusDepth::Headers, int threads = 3) const {
    return take_census(dataset_, {.depth = depth, .threads = threads});
  }

  TestFolder folder_;
  Dataset dataset_;
};

TEST_F(CensusTest, counts_forms_and_sizes) {
  add("a.png", gray(255));
  add("b.png", gray(254));
  add("c.png", gray(255, 0, 20));
  const Census found = census();
  EXPECT_EQ(found.forms.at("png gray 8 bit"), 3);
  EXPECT_EQ(found.sizes.at({16, 16}), 2);
  EXPECT_EQ(found.sizes.at({20, 20}), 1);
  EXPECT_EQ(found.duplicates.groups, 0);
  EXPECT_THAT(to_text(found), HasSubstr("16x16 px 2, 20x20 px 1"));
}

TEST_F(CensusTest, broken_files_are_counted_by_reason_and_named_nowhere) {
  add("patient17.png", "no image at all");
  add("patient18.png", gray(1));
  dataset_.samples.push_back({.id = "patient19.png", .path = folder_.path() / "absent.png"});
  const Census found = census();
  ASSERT_EQ(found.broken.size(), 2U);
  EXPECT_EQ(found.broken[0].sample, 0U);
  EXPECT_THAT(to_text(found), Not(HasSubstr("patient1")));
  EXPECT_THAT(io::to_json(to_value(found)), Not(HasSubstr("patient1")));
  EXPECT_THAT(to_text(found), HasSubstr("2 of 3 images cannot be read"));
}

TEST_F(CensusTest, damage_behind_the_header_is_found_by_decoding) {
  std::string bytes = gray(200, 3, 64);
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  add("a.png", bytes);
  EXPECT_TRUE(census().broken.empty());
  EXPECT_EQ(census(CensusDepth::Pixels).broken.size(), 1U);
}

TEST_F(CensusTest, the_same_file_in_two_splits_is_a_warning) {
  add("a.png", gray(9), Split::Train, "1");
  add("b.png", gray(9), Split::Test, "2");
  add("c.png", gray(8), Split::Test, "2");
  const Census found = census();
  EXPECT_EQ(found.duplicates.groups, 1);
  EXPECT_EQ(found.duplicates.images, 2);
  EXPECT_EQ(found.duplicates.across_splits, 1);
  EXPECT_EQ(found.duplicates.across_patients, 1);
  EXPECT_THAT(to_text(found), HasSubstr("WARNING   1 image is in two of train, val and test"));
}

TEST_F(CensusTest, the_same_pixels_in_another_file_are_found_by_decoding) {
  TestPng png{.width_px = 16, .height_px = 16};
  png.samples.assign(256, std::byte{7});
  png.samples[3] = std::byte{90};
  add("a.png", png_text(png));
  png.interlace = SPNG_INTERLACE_ADAM7;
  add("b.png", png_text(png));
  EXPECT_EQ(census().duplicates.groups, 0);
  EXPECT_EQ(census(CensusDepth::Pixels).duplicates.groups, 1);
}

TEST_F(CensusTest, files_with_equal_heads_are_not_the_same) {
  const std::string image = gray(9);
  add("a.png", image + std::string(40000, 'a'));
  add("b.png", image + std::string(40000, 'b'));
  add("c.png", image + std::string(40000, 'b'));
  const Census found = census();
  EXPECT_EQ(found.duplicates.groups, 1);
  EXPECT_EQ(found.duplicates.images, 2);
}

TEST_F(CensusTest, gray_values_in_a_small_part_of_the_container_are_a_warning) {
  TestPng png{.width_px = 8, .height_px = 8, .bit_depth = 16};
  png.samples.assign(128, std::byte{0});
  png.samples[0] = std::byte{0x0F};
  add("a.png", png_text(png));
  const Census found = census(CensusDepth::Pixels);
  EXPECT_EQ(found.ranges.at("png gray 16 bit").white, 65535U);
  EXPECT_TRUE(found.ranges.at("png gray 16 bit").is_narrow());
  EXPECT_THAT(to_text(found), HasSubstr("less than a quarter of the range 0 to 65535"));
  EXPECT_TRUE(census().ranges.empty());
}

TEST_F(CensusTest, one_image_of_little_range_among_others_is_counted) {
  add("a.png", gray(255));
  add("b.png", gray(20));
  const GrayRange range = census(CensusDepth::Pixels).ranges.at("png gray 8 bit");
  EXPECT_FALSE(range.is_narrow());
  EXPECT_EQ(range.below_a_quarter, 1);
}

TEST_F(CensusTest, says_the_same_with_any_number_of_threads) {
  for (int i = 0; i < 40; ++i) add(std::to_string(i) + ".png", gray(static_cast<std::uint8_t>(i / 2 + 1)));
  for (const CensusDepth depth : {CensusDepth::Headers, CensusDepth::Pixels}) {
    EXPECT_EQ(to_value(census(depth, 1)), to_value(census(depth, 8)));
  }
}

TEST_F(CensusTest, an_empty_data_set_has_nothing) { EXPECT_EQ(census().images, 0); }

}  // namespace
}  // namespace roentgen::data
