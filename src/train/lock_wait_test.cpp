// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/lock_wait.h"

#include <gtest/gtest.h>

#include <optional>

#include "core/folder_testing.h"
#include "train/run_folder.h"
#include "train/run_lock.h"

namespace roentgen::train {
namespace {

constexpr std::chrono::hours kLong{1};

TEST(WaitForLock, ends_when_the_lock_is_released) {
  const TemporaryFolder folder;
  std::optional<RunLock> lock(std::in_place, folder.path());
  int waits = 0;
  EXPECT_TRUE(wait_for_lock(folder.path(), kLong, [&] {
    ++waits;
    lock.reset();
  }));
  EXPECT_EQ(waits, 1);
  EXPECT_FALSE(std::filesystem::exists(RunFolder(folder.path()).lock()));
}

TEST(WaitForLock, ends_after_the_limit) {
  const TemporaryFolder folder;
  const RunLock lock(folder.path());
  EXPECT_FALSE(wait_for_lock(folder.path(), std::chrono::milliseconds(0), {}));
}

TEST(WaitForLock, waits_for_no_lock_and_no_folder) {
  const TemporaryFolder folder;
  const auto never = [] { ADD_FAILURE(); };
  EXPECT_TRUE(wait_for_lock(folder.path(), kLong, never));
  EXPECT_TRUE(wait_for_lock(folder.path() / "none", kLong, never));
}

}  // namespace
}  // namespace roentgen::train
