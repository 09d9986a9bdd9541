// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/comma_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen {
namespace {

using testing::ElementsAre;

TEST(CommaList, keeps_empty_parts) {
  EXPECT_THAT(comma_parts("a,bc,d"), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(comma_parts(""), ElementsAre(""));
  EXPECT_THAT(comma_parts(",a,"), ElementsAre("", "a", ""));
}

}  // namespace
}  // namespace roentgen
