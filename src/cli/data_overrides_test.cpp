// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/data_overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::cli {
namespace {

using data::message_of;
using testing::HasSubstr;

TEST(DataOverrides, take_keys_of_data_alone) {
  const std::vector<std::string> negative{"data.blank=negative"};
  EXPECT_EQ(data_options(negative).policy.blank, data::Blank::Negative);
  for (const std::string key : {"train.epochs=1", "data.labels=[\"a\"]"}) {
    EXPECT_THAT(message_of<ConfigError>([&] { check_data_overrides(std::vector{key}); }),
                HasSubstr("--set " + key + ": expected a recipe key of [data] other than data.labels"));
  }
}

}  // namespace
}  // namespace roentgen::cli
