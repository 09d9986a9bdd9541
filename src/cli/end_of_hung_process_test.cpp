// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/end_of_hung_process.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "cli/command.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

TEST(EndOfHungProcess, does_nothing_if_it_is_destroyed_in_time) {
  const EndOfHungProcess watched(std::make_exception_ptr(CommError("lost")), std::chrono::hours(1));
}

TEST(EndOfHungProcessDeathTest, prints_the_failure_and_ends_with_its_exit_code) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto hang = [](const std::exception_ptr& failure) {
    const std::shared_ptr<void> watch = end_of_hung_process(std::chrono::milliseconds(20))(failure);
    std::promise<void> never;
    never.get_future().wait();
  };
  EXPECT_EXIT(hang(std::make_exception_ptr(CommError("no sign of rank 1"))), testing::ExitedWithCode(kFailure),
              "no sign of rank 1.*a device hangs 20 ms after this failure; the process ends");
  EXPECT_EXIT(hang(std::make_exception_ptr(DataError("no data"))), testing::ExitedWithCode(kBadInput), "no data");
}

}  // namespace
}  // namespace roentgen::cli
