// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/toml.h"

namespace roentgen::train {
namespace {

using data::message_of;
using testing::HasSubstr;

// Returns the error of reading `toml`, which has a value of the wrong type.
std::string refusal(const std::string& toml) {
  const Value table = io::parse_toml(toml, "test").or_throw<ConfigError>();
  return message_of<ConfigError>([&] {
    double number = 0.0;
    std::int64_t count = 0;
    FieldList fields;
    fields.section("a", "");
    fields.number("number", number, {.low = 0.0}, "");
    fields.integer("count", count, {.low = 0.0}, "");
    fields.read(table, "r.toml");
  });
}

TEST(FieldList, tells_numbers_that_are_none_by_their_names) {
  EXPECT_THAT(refusal("[a]\nnumber = nan\n"), HasSubstr("r.toml: a.number: expected a number, at least 0, got nan;"));
  EXPECT_THAT(refusal("[a]\nnumber = inf\n"), HasSubstr("got inf;"));
  EXPECT_THAT(refusal("[a]\nnumber = -inf\n"), HasSubstr("got -inf;"));
  EXPECT_THAT(refusal("[a]\nnumber = [nan, 1, \"x\"]\n"), HasSubstr("got [nan,1,\"x\"];"));
  EXPECT_THAT(refusal("[a]\ncount = 1.5\n"), HasSubstr("a.count: expected a whole number, at least 0, got 1.5;"));
}

TEST(FieldList, shortens_long_values) {
  EXPECT_THAT(refusal("[a]\nnumber = \"" + std::string(100, 'x') + "\"\n"), HasSubstr("xxx...;"));
}

}  // namespace
}  // namespace roentgen::train
