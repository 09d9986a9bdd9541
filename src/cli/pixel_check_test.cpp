// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/pixel_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/png_writer.h"

namespace roentgen::cli {
namespace {

using testing::HasSubstr;

class PixelCheck : public testing::Test {
 protected:
  // A picture of two pixels.
  void put(const std::string& name, std::span<const std::uint8_t> samples) {
    const auto path = folder_.write(name, "");
    io::write_png(path, {.width_px = 2,
                         .height_px = 1,
                         .channels = static_cast<int>(samples.size() / 2),
                         .pixels = std::as_bytes(samples)});
    add(name, path);
  }
  void add(const std::string& name, const std::filesystem::path& path) {
    data::Sample& sample = dataset_.samples.emplace_back();
    sample.id = name;
    sample.path = path;
    samples_.push_back(static_cast<std::uint32_t>(samples_.size()));
  }
  data::TestFolder folder_;
  data::Dataset dataset_;
  std::vector<std::uint32_t> samples_;
};

TEST_F(PixelCheck, hashes_what_a_network_of_so_many_channels_gets) {
  put("gray.png", std::array<std::uint8_t, 2>{10, 200});
  put("as_rgb.png", std::array<std::uint8_t, 6>{10, 10, 10, 200, 200, 200});
  put("colour.png", std::array<std::uint8_t, 6>{10, 90, 10, 200, 0, 200});
  put("blank.png", std::array<std::uint8_t, 2>{7, 7});
  add("broken.png", folder_.write("broken.png", "no image"));
  const std::vector<std::string> one = read_hashes(dataset_, samples_, {.channels = 1});
  const std::vector<std::string> three = read_hashes(dataset_, samples_, {.channels = 3});
  ASSERT_EQ(one.size(), 5U);
  EXPECT_EQ(one[0].size(), 16U);
  EXPECT_EQ(one[0], one[1]);
  EXPECT_EQ(one[0], three[0]);
  EXPECT_EQ(one[0], three[1]);
  EXPECT_NE(one[2], one[0]);
  EXPECT_NE(one[2], three[2]) << "gray of a colour image is another picture";
  for (const auto& hashes : {one, three}) {
    EXPECT_EQ(hashes[3], "");
    EXPECT_EQ(hashes[4], "");
  }
}

TEST_F(PixelCheck, refuses_or_counts_what_was_trained_on) {
  const std::vector<std::string> training{"0123456789abcdef", "ffffffffffffffff"};
  const std::vector<std::string> tested{"ffffffffffffffff", "", "1111111111111111"};
  try {
    check_pixels(training, tested, OnOverlap::Refuse);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 of 3 test images with the pixels of one of the 2 training images"));
  }
  EXPECT_EQ(check_pixels(training, tested, OnOverlap::Warn).shared, 1);
  EXPECT_EQ(check_pixels(training, std::vector<std::string>{"", "1111111111111111"}, OnOverlap::Refuse).shared, 0);
  EXPECT_EQ(check_pixels({}, tested, OnOverlap::Refuse).training, 0);
}

}  // namespace
}  // namespace roentgen::cli
