// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/leak_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::HasSubstr;

TEST(PixelCheck, refuses_or_counts_what_was_trained_on) {
  const std::vector<std::string> training{"0123456789abcdef", "ffffffffffffffff"};
  const std::vector<std::string> tested{"ffffffffffffffff", "", "1111111111111111"};
  try {
    check_pixels(training, tested, eval::OnOverlap::Refuse);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 of 3 test images with the pixels of one of the 2 training images"));
  }
  EXPECT_EQ(check_pixels(training, tested, eval::OnOverlap::Warn).shared, 1);
  EXPECT_EQ(check_pixels(training, std::vector<std::string>{"", "1111111111111111"}, eval::OnOverlap::Refuse).shared,
            0);
  EXPECT_EQ(check_pixels({}, tested, eval::OnOverlap::Refuse).training, 0);
}

}  // namespace
}  // namespace roentgen::cli
