// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/machine_speed.h"

#include <gtest/gtest.h>

#include "runtime/team.h"

namespace roentgen::bench {
namespace {

TEST(MachineSpeed, of_each_number_of_threads_has_checked_results) {
  for (const int threads : {1, 2, 3}) {
    static_cast<void>(runtime::prepare_team(threads));
    MachineSpeed speed(threads);
    const SpeedSample sample = speed.measure();
    EXPECT_GT(sample.compute_s, 0.0);
    EXPECT_GT(sample.copy_s, 0.0);
  }
}

TEST(MachineSpeed, copies_more_than_the_caches_of_each_thread) {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  EXPECT_EQ(MachineSpeed(1).bytes(), 256 * kMiB);
  EXPECT_EQ(MachineSpeed(40).bytes(), 320 * kMiB);
  EXPECT_EQ(MachineSpeed(2, 4).bytes(), 64 * kMiB);
  EXPECT_EQ(MachineSpeed(1, 64).bytes(), 8 * kMiB);
}

}  // namespace
}  // namespace roentgen::bench
