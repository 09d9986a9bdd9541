// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace roentgen {
namespace {
Result<int> half_of(int number) {
  if (number % 2 != 0) return failure("core.test", "number", "an even one", std::to_string(number));
  return number / 2;
}

TEST(Result, holds_a_value) {
  const Result<int> result = half_of(8);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), 4);
}

TEST(Result, holds_the_reason_of_a_failure) {
  const Result<int> result = half_of(7);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "[core.test] number: expected an even one, got 7");
  EXPECT_EQ(result.why().message, result.error());
}

TEST(Result, of_a_string_tells_value_and_failure_apart) {
  const Result<std::string> good(std::string("text"));
  const Result<std::string> bad(Failure{"text"});
  EXPECT_TRUE(good.ok());
  EXPECT_FALSE(bad.ok());
}

TEST(Result, throws_the_failure_as_the_kind_asked_for) {
  EXPECT_EQ(half_of(2).or_throw(), 1);
  EXPECT_THROW(static_cast<void>(half_of(1).or_throw()), DataError);
  EXPECT_THROW(static_cast<void>(half_of(1).or_throw<ConfigError>()), ConfigError);
}

TEST(Result, moves_what_cannot_be_copied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, asking_for_what_is_not_there_is_a_bug) {
  EXPECT_THROW(static_cast<void>(half_of(1).value()), std::logic_error);
  EXPECT_THROW(static_cast<void>(half_of(2).error()), std::logic_error);
  EXPECT_THROW(static_cast<void>(half_of(2).why()), std::logic_error);
}

TEST(Status, is_done_or_failed) {
  const Status done = Done{};
  const Status failed = Failure{"no"};
  EXPECT_TRUE(done.ok());
  EXPECT_FALSE(failed.ok());
}
}  // namespace
}  // namespace roentgen
