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
  EXPECT_EQ(MachineSpeed(1).bytes(), std::size_t{256} << 20U);
  EXPECT_EQ(MachineSpeed(40).bytes(), std::size_t{320} << 20U);
}

}  // namespace
}  // namespace roentgen::bench
