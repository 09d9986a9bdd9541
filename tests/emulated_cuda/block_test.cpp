// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the emulator finds planted bugs (planted.h), and that a kernel without a bug gives the same numbers in
// every order.
#include "tests/emulated_cuda/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/error.h"
#include "tests/emulated_cuda/planted.h"
#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Order kOrders[] = {Order::Forward, Order::Backward, Order::Random};

std::vector<std::vector<float>> in_every_order(std::string_view name) {
  std::vector<std::vector<float>> results;
  for (const Order order : kOrders) results.push_back(run_planted(name, {.order = order, .seed = 7}));
  return results;
}

TEST(EmulatedCuda, kernel_without_a_bug_gives_equal_numbers_in_every_order) {
  const auto results = in_every_order("none");
  for (unsigned i = 0; i < results[0].size(); ++i) {
    // Sum over the lanes, which hold 63 down to 32, or 31 down to 0.
    ASSERT_EQ(results[0][i], i % kPlantedThreads < 32 ? 1520.0F : 496.0F) << i;
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(EmulatedCuda, missing_barriers_show_as_numbers_that_depend_on_the_order) {
  for (const std::string_view name : {"missing_barrier", "missing_sync_in_warp"}) {
    const auto results = in_every_order(name);
    EXPECT_NE(results[0], results[1]) << name;
  }
}

TEST(EmulatedCuda, two_writers_show_as_numbers_that_depend_on_the_order) {
  const auto results = in_every_order("two_writers");
  EXPECT_EQ(results[0][0], 1.0F);
  EXPECT_EQ(results[1][0], 0.0F);
}

TEST(EmulatedCuda, unwritten_shared_memory_is_nan) {
  const auto results = in_every_order("unwritten");
  for (const std::vector<float>& result : results) {
    EXPECT_TRUE(std::isnan(result[7]));
    EXPECT_EQ(result[8], 1.0F);
  }
}

TEST(EmulatedCuda, errors_name_kernel_thread_file_and_line) {
  const std::map<std::string_view, std::string> texts{
      {"early_end", "a thread ended while others wait at a barrier"},
      {"two_barriers", "threads at different barriers, others at planted.cpp:"},
      {"own_mask", "lane outside of"},
      {"absent_lane", "a shuffle from a lane outside of the mask"},
      {"different_masks", "lanes of a warp with different masks"},
      {"two_operations", "lanes of a warp in different operations, others at planted.cpp:"},
      {"misaligned", "a pack at an address that is not aligned"}};
  for (const auto& [name, text] : texts) {
    for (const Order order : kOrders) {
      EXPECT_THAT(
          ([&, kernel = name] { static_cast<void>(run_planted(kernel, {.order = order})); }),
          ThrowsMessage<DeviceError>(AllOf(HasSubstr("[emulated.cuda] " + std::string(name) + ", block ("),
                                           HasSubstr("thread ("), HasSubstr(text), HasSubstr("at planted.cpp:"))));
    }
  }
}

TEST(EmulatedCuda, threads_that_wait_for_each_other_are_an_error) {
  EXPECT_THAT(([] { static_cast<void>(run_planted("barrier_in_warp", {})); }),
              ThrowsMessage<DeviceError>(HasSubstr("barrier_in_warp, block (0,0,0)")));
}

TEST(EmulatedCuda, writes_past_an_array_and_past_a_buffer_are_errors) {
  if (sanitizer::has_poison) GTEST_SKIP() << "SKIPPED: the sanitizer ends the program; checks.cpp tests it";
  EXPECT_THAT(([] { static_cast<void>(run_planted("write_past", {})); }),
              ThrowsMessage<DeviceError>(HasSubstr("a write past an array in shared memory")));
  EXPECT_THAT(([] { static_cast<void>(run_planted("past_the_buffer", {})); }),
              ThrowsMessage<DeviceError>(HasSubstr("a write past a device buffer")));
}

TEST(EmulatedCuda, a_block_after_an_error_runs) {
  EXPECT_THROW(static_cast<void>(run_planted("early_end", {})), DeviceError);
  EXPECT_EQ(run_planted("none", {})[0], 1520.0F);
}

TEST(EmulatedCuda, grids_that_no_device_launches_are_refused) {
  int runs = 0;
  const auto attempt = [&](Dim3 blocks, Dim3 threads) {
    run({.name = "count", .blocks = blocks, .threads = threads, .body = [&] { ++runs; }});
  };
  EXPECT_THROW(attempt(1, 1025), DeviceError);
  EXPECT_THROW(attempt(1, 0), DeviceError);
  EXPECT_THROW(attempt(0, 32), DeviceError);
  EXPECT_THROW(attempt({1, 65536}, 32), DeviceError);
  EXPECT_EQ(runs, 0);
  attempt({2, 3}, {4, 5});
  EXPECT_EQ(runs, 2 * 3 * 4 * 5);
}

}  // namespace
}  // namespace roentgen::emulated
