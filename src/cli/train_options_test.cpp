// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/train_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TrainOptions, read_seeds) {
  EXPECT_THAT(parse_seeds("0,17,2"), ElementsAre(0, 17, 2));
  EXPECT_THAT(parse_seeds("5"), ElementsAre(5));
  for (const char* bad : {"", "1,", ",1", "1,1", "-1", "a", "1 ,2", "1.5", "2000000000"}) {
    try {
      static_cast<void>(parse_seeds(bad));
      FAIL() << bad;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("distinct whole numbers"));
    }
  }
}

}  // namespace
}  // namespace roentgen::cli
