// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/lower_case.h"

#include <gtest/gtest.h>

namespace roentgen {
namespace {

TEST(LowerCase, makes_letters_small_and_keeps_all_other_bytes) {
  EXPECT_EQ(lower_case("View_Position.PNG [9]"), "view_position.png [9]");
  EXPECT_EQ(lower_case("\xC3\x84rztin"), "\xC3\x84rztin") << "UTF-8 stays UTF-8";
}

}  // namespace
}  // namespace roentgen
