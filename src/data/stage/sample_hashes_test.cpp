// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_hashes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "data/source/source_testing.h"
#include "io/png_writer.h"

namespace roentgen::data {
namespace {

class SampleHashes : public testing::Test {
 protected:
  // Writes a picture of two pixels.
  void put(const std::string& name, std::span<const std::uint8_t> samples) {
    const auto path = folder_.write(name, "");
    io::write_png(path, {.width_px = 2,
                         .height_px = 1,
                         .channels = static_cast<int>(samples.size() / 2),
                         .pixels = std::as_bytes(samples)});
    add(name, path);
  }
  void add(const std::string& name, const std::filesystem::path& path) {
    Sample& sample = dataset_.samples.emplace_back();
    sample.id = name;
    sample.path = path;
    samples_.push_back(static_cast<std::uint32_t>(samples_.size()));
  }
  TestFolder folder_;
  Dataset dataset_;
  std::vector<std::uint32_t> samples_;
};

TEST_F(SampleHashes, hashes_what_a_network_of_so_many_channels_gets) {
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

}  // namespace
}  // namespace roentgen::data
