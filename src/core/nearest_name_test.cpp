// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/nearest_name.h"

#include <gtest/gtest.h>

namespace roentgen {
namespace {

TEST(NearestName, is_the_one_with_the_fewest_edits_unless_all_are_far) {
  const std::vector<std::string> names{"default", "densenet", "epochs"};
  EXPECT_EQ(nearest_name("defalt", names), "default");
  EXPECT_EQ(nearest_name("epoch", names), "epochs");
  EXPECT_EQ(nearest_name("nothing", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace roentgen
