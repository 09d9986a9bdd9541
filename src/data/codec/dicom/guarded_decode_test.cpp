// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/guarded_decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace roentgen::data {
namespace {

TEST(GuardedDecode, gives_the_samples_that_the_child_wrote) {
  std::vector<std::int32_t> samples(3, 7);
  EXPECT_TRUE(decode_in_child(samples, [](std::span<std::int32_t> out) {
    out[0] = 1;
    out[2] = 65535;
    return true;
  }));
  EXPECT_THAT(samples, testing::ElementsAre(1, 0, 65535));
}

TEST(GuardedDecode, survives_a_child_that_fails_in_any_way) {
  std::vector<std::int32_t> samples(3, 7);
  const auto ends_with = [&samples](void (*end)()) {
    return decode_in_child(samples, [end](std::span<std::int32_t> out) {
      out[0] = 1;
      end();
      return false;
    });
  };
  EXPECT_FALSE(ends_with([] {}));
  EXPECT_FALSE(ends_with([] { std::abort(); }));
  EXPECT_FALSE(ends_with([] { throw std::runtime_error("damaged"); }));
  EXPECT_THAT(samples, testing::Each(7)) << "untouched";
}

}  // namespace
}  // namespace roentgen::data
