// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares transforms of NIH's PNG files to 224 x 224 with Pillow (tests/golden/pillow_resize.csv).
#include <gtest/gtest.h>

#include "data/codec/codec.h"
#include "data/transform/golden_testing.h"
#include "data/transform/transform_testing.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

TEST(TransformReal, chest_radiographs_are_resized_as_by_pillow) {
  const char* set = std::getenv("ROENTGEN_TEST_DATA");
  const std::filesystem::path folder = set != nullptr ? std::filesystem::path(set) : source_folder() / "../shared/data";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "NO REAL DATA at " << folder << ": NOTHING TESTED";
  const std::vector<GoldenResize> all = read_golden_resizes("real");
  EXPECT_EQ(all.size(), 3U);
  for (const GoldenResize& golden : all) {
    const std::vector<std::byte> bytes = io::read_file(folder / golden.name).or_throw();
    Image image;
    const Status status = Decoder{}.decode(bytes, golden.name, {.channels = Channels::Gray}, image);
    ASSERT_TRUE(status.ok()) << status.error();
    const std::vector<float> out = transform(image, unit(224));
    std::vector<float> rows;
    for (std::size_t y = 13; y < 224; y += 28) {
      for (std::size_t x = 0; x < 224; ++x) rows.push_back(255.0F * out[y * 224 + x]);
    }
    // Tolerance in levels of 255, for float32 sums compared with Pillow's double sums.
    EXPECT_LE(largest_difference(rows, golden.values), 1e-4) << golden.name;
  }
}

}  // namespace
}  // namespace roentgen::data
