// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/random.h"
#include "io/io_testing.h"
#include "io/value_testing.h"

namespace roentgen::io {
namespace {
Value parsed(std::string_view text) { return parse_json(text, "test.json").or_throw(); }

/// Error for a text that must not be accepted.
std::string error_of(std::string_view text) {
  const auto result = parse_json(text, "test.json");
  return result.ok() ? "no error" : result.error();
}

TEST(Json, parses_every_kind) {
  const Value value = parsed(R"({"a": null, "b": true, "c": -3, "d": 2.5, "e": "x", "f": [1, []], "g": {}})");
  EXPECT_TRUE(value.at("a").is_null());
  EXPECT_TRUE(value.at("b").as_bool());
  EXPECT_EQ(value.at("c").as_integer(), -3);
  EXPECT_EQ(value.at("d").as_double(), 2.5);
  EXPECT_EQ(value.at("e").as_string(), "x");
  EXPECT_EQ(value.at("f").as_array().size(), 2U);
  EXPECT_TRUE(value.at("g").is_table());
}

TEST(Json, keeps_the_order_of_keys) {
  EXPECT_EQ(to_json(parsed(R"({"z":1,"a":2,"m":3})"), -1), R"({"z":1,"a":2,"m":3})");
}

TEST(Json, tells_integers_and_numbers_apart) {
  EXPECT_TRUE(parsed("1").is_integer());
  EXPECT_TRUE(parsed("1.0").is_double());
  EXPECT_TRUE(parsed("1e2").is_double());
  EXPECT_EQ(parsed("9223372036854775807").as_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parsed("-9223372036854775808").as_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parsed("9223372036854775808").as_double(), 0x1p63) << "what does not fit an integer is a number";
}

TEST(Json, decodes_escapes) {
  EXPECT_EQ(parsed(R"("\u00e9\ud83e\ude7b\n\/")").as_string(), "\xC3\xA9\xF0\x9F\xA9\xBB\n/");
}

TEST(Json, names_line_and_column_of_an_error) {
  const std::string error = error_of("{\n  \"a\": 1,\n  \"b\": oops\n}");
  EXPECT_TRUE(error.starts_with("[io.json] test.json, line 3, column 8: expected JSON, got syntax error")) << error;
}

TEST(Json, refuses_what_is_not_strict) {
  for (const char* text : {"", "   ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "01", "1.", ".5", "+1", "NaN", "// c\n1",
                           "1 2", "\"a\nb\"", "{\"a\" 1}", "tru", "\"\\x\"", "\"\\ud800\"", "1e999"}) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with("[io.json] test.json, line ")) << text << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
}

TEST(Json, refuses_ill_formed_utf8) { EXPECT_NE(error_of("\"\xFF\""), "no error"); }

TEST(Json, refuses_bytes_behind_a_nul) {
  EXPECT_NE(error_of(std::string("[1]\0[2]", 7)).find("line 1, column 3: expected JSON, got a zero byte"),
            std::string::npos);
  EXPECT_EQ(error_of(std::string("[1]\0\0", 5)), "no error") << "padding";
}

TEST(Json, refuses_a_key_twice) {
  EXPECT_EQ(error_of("{\"a\": {\"b\": 1,\n \"c\": 2, \"b\": 3}}"),
            "[io.json] test.json, line 2, column 16: expected each key once in an object, got key \"b\" twice; "
            "try a complete copy of the file");
}

TEST(Json, limits_the_depth) {
  EXPECT_TRUE(parse_json(std::string(200, '[') + std::string(200, ']'), "test.json").ok());
  EXPECT_EQ(error_of(std::string(201, '[') + std::string(201, ']')),
            "[io.json] test.json, line 1, column 201: expected at most 200 levels of nesting, got more; try a "
            "complete copy of the file");
  EXPECT_NE(error_of(std::string(10'000'000, '[')), "no error") << "nor does a very deep text exhaust the stack";
}

TEST(Json, keeps_error_texts_short) {
  EXPECT_LT(error_of("\"" + std::string(100'000, 'x')).size(), 400U);
  EXPECT_LT(error_of(std::string(100'000, 'x')).size(), 400U);
}

TEST(Json, prints_indented_or_on_one_line) {
  Value value;
  value.set("auroc", 0.875);
  value.set("labels", Value::Array{"Mass", Value::table(), Value::array()});
  EXPECT_EQ(to_json(value, -1), R"({"auroc":0.875,"labels":["Mass",{},[]]})");
  EXPECT_EQ(to_json(value), "{\n  \"auroc\": 0.875,\n  \"labels\": [\n    \"Mass\",\n    {},\n    []\n  ]\n}");
}

TEST(Json, prints_what_is_no_number_as_null) {
  EXPECT_EQ(to_json(Value::Array{std::nan(""), std::numeric_limits<double>::infinity(), 1.0}, -1), "[null,null,1.0]");
}

TEST(Json, prints_ill_formed_utf8_as_replacement_characters) {
  const std::string printed = to_json(Value("a\xFF"));
  EXPECT_EQ(printed, "\"a\xEF\xBF\xBD\"");
  EXPECT_TRUE(parse_json(printed, "test.json").ok());
}

// Damaged text causes no crash (sanitizers check this). Text that still parses can be printed and parsed to the same
// value.
TEST(Json, survives_damaged_text) {
  constexpr std::uint64_t kSeed = 12;
  const std::string base =
      R"({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "x\u00e9": [1e-3, -0.0, null, true, "ö\n"]})";
  int refused = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    Random random(kSeed, RandomStage::Test, i);
    const auto result = parse_json(testing::damaged(base, random), "test.json");
    if (result.ok()) {
      ASSERT_EQ(parsed(to_json(result.value())), result.value()) << "seed " << kSeed << ", case " << i;
      continue;
    }
    ++refused;
    ASSERT_EQ(result.error().find('\n'), std::string::npos) << "seed " << kSeed << ", case " << i;
  }
  EXPECT_GT(refused, 10'000) << "damage that nothing notices tests nothing";
}

RC_GTEST_PROP(JsonProperty, what_is_printed_reads_back, ()) {
  const Value value = Value::Array{*testing::any_value(3), *testing::any_document()};
  RC_ASSERT(parsed(to_json(value)) == value);
  RC_ASSERT(parsed(to_json(value, -1)) == value);
}
}  // namespace
}  // namespace roentgen::io
