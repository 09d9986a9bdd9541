// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/value.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace roentgen {
namespace {
std::vector<std::string> keys_of(const Value& table) {
  std::vector<std::string> keys;
  for (const auto& entry : table.as_table()) keys.push_back(entry.first);
  return keys;
}

TEST(Value, knows_its_kind) {
  EXPECT_EQ(Value().kind(), "nothing");
  EXPECT_EQ(Value(nullptr).kind(), "nothing");
  EXPECT_EQ(Value(true).kind(), "boolean");
  EXPECT_EQ(Value(3).kind(), "integer");
  EXPECT_EQ(Value(std::size_t{3}).kind(), "integer");
  EXPECT_EQ(Value(3.0).kind(), "number");
  EXPECT_EQ(Value("text").kind(), "string");
  EXPECT_EQ(Value::array().kind(), "array");
  EXPECT_EQ(Value::table().kind(), "table");
}

TEST(Value, a_literal_string_is_no_boolean) {
  EXPECT_TRUE(Value("true").is_string());
  EXPECT_EQ(Value("true").as_string(), "true");
}

TEST(Value, an_integer_serves_as_a_double_but_not_the_reverse) {
  EXPECT_EQ(Value(3).as_double(), 3.0);
  EXPECT_TRUE(Value(3).is_number());
  EXPECT_THROW(static_cast<void>(Value(3.0).as_integer()), ConfigError);
  EXPECT_FALSE(Value(3) == Value(3.0));
}

TEST(Value, access_by_another_kind_names_both) {
  try {
    static_cast<void>(Value(3).as_string());
    FAIL() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "[core.value] value: expected a string, got integer; try a value of that kind");
  }
  EXPECT_THROW(static_cast<void>(Value("x").as_bool()), ConfigError);
  EXPECT_THROW(static_cast<void>(Value("x").as_double()), ConfigError);
  EXPECT_THROW(static_cast<void>(Value("x").as_array()), ConfigError);
  EXPECT_THROW(static_cast<void>(Value("x").as_table()), ConfigError);
}

TEST(Value, tables_keep_the_order_of_insertion) {
  Value value = Value::table();
  value.set("zebra", 1);
  value.set("apple", 2);
  value.set("mango", 3);
  value.set("zebra", 4);
  EXPECT_EQ(keys_of(value), (std::vector<std::string>{"zebra", "apple", "mango"}));
  EXPECT_EQ(value.at("zebra").as_integer(), 4);
}

TEST(Value, find_gives_nothing_for_an_absent_key_and_at_names_it) {
  Value value = Value::table();
  value.set("lr", 0.1);
  EXPECT_EQ(value.find("epochs"), nullptr);
  EXPECT_EQ(Value(3).find("epochs"), nullptr);
  try {
    static_cast<void>(value.at("epochs"));
    FAIL() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("epochs"), std::string::npos) << error.what();
  }
}

TEST(Value, set_turns_nothing_into_a_table_and_refuses_other_kinds) {
  Value value;
  value.set("a", 1);
  EXPECT_TRUE(value.is_table());
  Value number(3);
  EXPECT_THROW(number.set("a", 1), ConfigError);
}

TEST(Value, set_path_makes_the_tables_on_the_way) {
  Value value;
  value.set_path("optimizer.adam.lr", 1e-4);
  value.set_path("optimizer.name", "adam");
  ASSERT_NE(value.find_path("optimizer.adam.lr"), nullptr);
  EXPECT_EQ(value.find_path("optimizer.adam.lr")->as_double(), 1e-4);
  EXPECT_EQ(keys_of(value.at("optimizer")), (std::vector<std::string>{"adam", "name"}));
}

TEST(Value, set_path_replaces_what_is_there) {
  Value value;
  value.set_path("a.b", 1);
  value.set_path("a.b", "two");
  EXPECT_EQ(value.find_path("a.b")->as_string(), "two");
  EXPECT_EQ(value.at("a").as_table().size(), 1U);
}

TEST(Value, set_path_refuses_to_go_through_what_is_no_table) {
  Value value;
  value.set("lr", 0.1);
  try {
    value.set_path("lr.warmup", 1);
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "[core.value] lr: expected a table, got number; try a value of that kind");
  }
  EXPECT_EQ(value.at("lr").as_double(), 0.1);
}

TEST(Value, find_path_stops_at_what_is_absent_or_no_table) {
  Value value;
  value.set_path("a.b", 1);
  EXPECT_EQ(value.find_path("a.c"), nullptr);
  EXPECT_EQ(value.find_path("x.b"), nullptr);
  EXPECT_EQ(value.find_path("a.b.c"), nullptr);
  EXPECT_EQ(value.find_path("a"), value.find("a"));
}

TEST(Value, push_back_turns_nothing_into_an_array_and_refuses_other_kinds) {
  Value value;
  value.push_back(1);
  value.push_back("two");
  ASSERT_EQ(value.as_array().size(), 2U);
  EXPECT_EQ(value.as_array()[1].as_string(), "two");
  Value table = Value::table();
  EXPECT_THROW(table.push_back(1), ConfigError);
}

TEST(Value, equality_is_deep_and_minds_order) {
  Value first;
  first.set_path("a.b", 1);
  first.set("c", Value::Array{1, "x", nullptr});
  Value second = first;
  EXPECT_EQ(first, second);
  second.set_path("a.b", 2);
  EXPECT_FALSE(first == second);
  EXPECT_EQ(first.find_path("a.b")->as_integer(), 1) << "a copy shares nothing with its original";
}
}  // namespace
}  // namespace roentgen
