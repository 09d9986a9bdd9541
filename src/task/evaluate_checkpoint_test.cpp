// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/evaluate_checkpoint.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::task {
namespace {

TEST(LeakChecks, refuse_or_warn_of_a_leak_and_tell_a_clean_check) {
  EXPECT_EQ(settle_leak("", "none of 2", eval::OnOverlap::Refuse), "none of 2\n");
  EXPECT_EQ(settle_leak("1 of 2", "none of 2", eval::OnOverlap::Warn), "");
  try {
    static_cast<void>(settle_leak("1 of 2", "none of 2", eval::OnOverlap::Refuse));
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "1 of 2");
  }
}

}  // namespace
}  // namespace roentgen::task
