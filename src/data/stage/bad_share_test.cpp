// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/bad_share.h"

#include <gtest/gtest.h>

namespace roentgen::data {
namespace {

TEST(BadShare, is_the_least_of_two_digits_that_admits_the_images) {
  EXPECT_DOUBLE_EQ(share_admitting(1, 24), 0.042);
  EXPECT_DOUBLE_EQ(share_admitting(1, 1000), 0.001);
  EXPECT_DOUBLE_EQ(share_admitting(2, 30000), 0.000067);
  EXPECT_DOUBLE_EQ(share_admitting(24, 24), 1.0);
}

TEST(BadShare, admits_them_in_binary_numbers_too) {
  for (std::int64_t images = 1; images < 300; ++images) {
    for (std::int64_t bad = 1; bad <= images; ++bad) {
      const double share = share_admitting(bad, images);
      ASSERT_GE(share * static_cast<double>(images), static_cast<double>(bad)) << bad << " of " << images;
      ASSERT_LE(share, 1.0) << bad << " of " << images;
    }
  }
}

}  // namespace
}  // namespace roentgen::data
