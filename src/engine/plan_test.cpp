// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace roentgen::engine {
namespace {

TEST(MemoryReport, tells_each_part_that_is_there_and_which_of_it_is_scratch_of_threads) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  MemoryReport report{.activations = 900 * kMiB, .parameters = 90 * kMiB, .gradients = 90 * kMiB, .state = kMiB};
  EXPECT_EQ(report.text({{"optimizer", 90 * kMiB}}),
            "1171.0 MiB: activations 900.0, parameters 90.0, gradients 90.0, other 1.0, optimizer 90.0");
  report.threads_scratch = 8 * kMiB;
  EXPECT_EQ(report.total(), 1081 * kMiB) << "a part of activations";
  EXPECT_EQ(report.text(),
            "1081.0 MiB: activations 900.0 (scratch of threads 8.0), parameters 90.0, gradients 90.0, other 1.0");
}

}  // namespace
}  // namespace roentgen::engine
