// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace roentgen::python {
namespace {

const Value kTable = Value::Table{{"batch", 64},
                                  {"name", "a"},
                                  {"share", 0.25},
                                  {"nan", std::nan("")},
                                  {"list", Value::Array{0, 2}},
                                  {"mixed", Value::Array{0, "x"}}};

TEST(OptionReader, gives_what_is_there) {
  const OptionReader options(kTable, "python.test");
  EXPECT_EQ(options.integer("batch", {.least = 1, .most = 64}), 64);
  EXPECT_EQ(options.text("name"), "a");
  EXPECT_EQ(options.share("share"), 0.25);
  EXPECT_EQ(options.indices("list", 3), (std::vector<std::uint32_t>{0, 2}));
}

TEST(OptionReader, names_the_option_in_every_error) {
  const OptionReader options(kTable, "python.test");
  const std::vector<std::pair<std::function<void()>, std::string>> cases{
      {[&] { static_cast<void>(options.integer("batch", {.least = 1, .most = 8})); },
       "[python.test] batch: expected a number from 1 to 8, got 64; try another number"},
      {[&] { static_cast<void>(options.integer("batch", {.least = 65})); },
       "[python.test] batch: expected a number of at least 65, got 64; try another number"},
      {[&] { static_cast<void>(options.integer("name", {})); },
       "[python.test] name: expected a whole number, got string; try a value of that kind"},
      {[&] { static_cast<void>(options.integer("absent", {})); },
       "[python.test] absent: expected a whole number, got none; try a value of that kind"},
      {[&] { static_cast<void>(options.share("batch")); },
       "[python.test] batch: expected a fraction from 0 to 1, got 64; try 0.01"},
      {[&] { static_cast<void>(options.share("nan")); },
       "[python.test] nan: expected a fraction from 0 to 1, got nan; try 0.01"},
      {[&] { static_cast<void>(options.text("batch")); },
       "[python.test] batch: expected text, got integer; try a value of that kind"},
      {[&] { static_cast<void>(options.indices("list", 2)); },
       "[python.test] list: expected a number from 0 to 1, got 2; try another number"},
      {[&] { static_cast<void>(options.indices("mixed", 2)); },
       "[python.test] mixed: expected a list of whole numbers, got array; try a value of that kind"},
  };
  for (const auto& [call, message] : cases) {
    try {
      call();
      ADD_FAILURE() << "no error: " << message;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace roentgen::python
