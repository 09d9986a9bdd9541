// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/toml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/random.h"
#include "io/io_testing.h"
#include "io/json.h"
#include "io/value_testing.h"

namespace roentgen::io {
namespace {
Value parsed(std::string_view text) { return parse_toml(text, "recipe.toml").or_throw(); }

/// Error for a text that must not be accepted.
std::string error_of(std::string_view text) {
  const auto result = parse_toml(text, "recipe.toml");
  return result.ok() ? "no error" : result.error();
}

TEST(Toml, parses_a_recipe) {
  const Value value = parsed(R"(# comment
seed = 1
[model]
name = "densenet121"
inputs = [1, 224, 224]
[optimizer]
lr = 1e-4
nesterov = false
clip = inf
)");
  EXPECT_EQ(value.at("seed").as_integer(), 1);
  EXPECT_EQ(value.find_path("model.name")->as_string(), "densenet121");
  EXPECT_EQ(value.find_path("model.inputs")->as_array().size(), 3U);
  EXPECT_EQ(value.find_path("optimizer.lr")->as_double(), 1e-4);
  EXPECT_FALSE(value.find_path("optimizer.nesterov")->as_bool());
  EXPECT_TRUE(std::isinf(value.find_path("optimizer.clip")->as_double()));
}

TEST(Toml, keeps_the_written_order_of_keys) {
  EXPECT_EQ(to_json(parsed("z = 1\na = { y = 1, b = 2 }\n[t.u]\nm = 1\n[s]\nc = 1\n[[k]]\nq = 1\n[[k]]\np = 2\n"), -1),
            R"({"z":1,"a":{"y":1,"b":2},"t":{"u":{"m":1}},"s":{"c":1},"k":[{"q":1},{"p":2}]})");
}

TEST(Toml, names_line_and_column_of_an_error) {
  const std::string error = error_of("[model]\nname = \"x\"\nlr = oops\n");
  EXPECT_TRUE(error.starts_with("[io.toml] recipe.toml, line 3, column ")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(Toml, refuses_dates_and_times) {
  for (const char* text : {"d = 2020-01-02", "d = 10:30:00", "d = 2020-01-02T10:30:00Z", "d = [[2020-01-02]]"}) {
    EXPECT_NE(error_of(text).find("got a date or time; try putting it in quotes"), std::string::npos) << error_of(text);
  }
  EXPECT_TRUE(error_of("\n\nd = 2020-01-02").starts_with("[io.toml] recipe.toml, line 3, column 5: "));
}

TEST(Toml, refuses_what_is_not_toml) {
  for (const char* text : {"a", "a = ", "= 1", "a = 1\na = 2", "[a]\n[a]", "a = \"x", "a = [1, 2", "a = {x = 1",
                           "a = 'x' y", "[a\nb = 1", "a = 1 b = 2", "a = 01", "\"\xFF\" = 1", "a.b = 1\na = 2"}) {
    EXPECT_TRUE(error_of(text).starts_with("[io.toml] recipe.toml, line ")) << text << ": " << error_of(text);
  }
}

TEST(Toml, an_empty_text_is_an_empty_table) {
  EXPECT_TRUE(parsed("").as_table().empty());
  EXPECT_TRUE(parsed("# nothing\n").as_table().empty());
}

TEST(Toml, limits_nesting_and_dots) {
  EXPECT_NE(error_of("a = " + std::string(100'000, '[')), "no error");
  EXPECT_NE(error_of("a = " + std::string(220, '[') + std::string(220, ']')), "no error");
  std::string key = "a";
  for (int i = 0; i < 200'000; ++i) key += ".a";
  EXPECT_EQ(error_of(key + " = 1"),
            "[io.toml] recipe.toml: expected at most 32 dots in a key, got more; try a shorter key");
  EXPECT_EQ(error_of("[" + key + "]"),
            "[io.toml] recipe.toml: expected at most 32 dots in a key, got more; try a shorter key");
  EXPECT_EQ(error_of("x = { " + key + " = 1 }"),
            "[io.toml] recipe.toml: expected at most 32 dots in a key, got more; try a shorter key");
}

TEST(Toml, counts_no_dots_in_strings_comments_and_numbers) {
  const std::string dots(100, '.');
  EXPECT_TRUE(parse_toml("a = \"" + dots + "\" # " + dots + "\nb = '" + dots + "'\n\"" + dots + "\" = 1\nc = \"\"\"\n" +
                             dots + "\\\"" + dots + "\"\"\"\n",
                         "recipe.toml")
                  .ok());
  std::string numbers = "a = [";
  for (int i = 0; i < 100; ++i) numbers += "0.5, ";
  EXPECT_TRUE(parse_toml(numbers + "1.0]", "recipe.toml").ok());
}

TEST(TomlValue, parses_values) {
  EXPECT_EQ(parse_toml_value("0.1", "x").or_throw().as_double(), 0.1);
  EXPECT_EQ(parse_toml_value("-3", "x").or_throw().as_integer(), -3);
  EXPECT_TRUE(parse_toml_value("true", "x").or_throw().as_bool());
  EXPECT_EQ(parse_toml_value(" [1, 2] ", "x").or_throw().as_array().size(), 2U);
  EXPECT_EQ(parse_toml_value("\"0.1\"", "x").or_throw().as_string(), "0.1");
  EXPECT_EQ(parse_toml_value("{ a = 1 }", "x").or_throw().at("a").as_integer(), 1);
}

TEST(TomlValue, takes_bare_words_as_strings) {
  for (const char* word :
       {"resnet18", "densenet121", "/data/nih/images", "a=b", "1 = 2", "x # y", "True", "a,b", "-"}) {
    EXPECT_EQ(parse_toml_value(word, "x").or_throw(), Value(word));
  }
  EXPECT_EQ(parse_toml_value("  resnet18 ", "x").or_throw().as_string(), "resnet18");
  EXPECT_EQ(parse_toml_value("", "x").or_throw().as_string(), "");
}

TEST(TomlValue, refuses_broken_quotes_and_brackets_dates_and_line_breaks) {
  for (const char* text : {"\"x", "'x", "[1, 2", "{ a = 1", "2020-01-02", "1\n[section]"}) {
    const auto result = parse_toml_value(text, "--set a");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_TRUE(result.error().starts_with("[io.toml] --set a")) << result.error();
  }
}

TEST(ToToml, prints_plain_keys_first_then_sections) {
  Value value;
  value.set_path("model.name", "resnet18");
  value.set("seed", 1);
  value.set_path("model.head.bias", 1.0);
  value.set("nothing", nullptr);
  value.set("odd key", Value::Array{1, nullptr, "x", Value::Table{{"a.b", 2}}});
  value.set("phases", Value::Array{Value::Table{{"epochs", 1}}, Value::Table{{"epochs", 2}}});
  EXPECT_EQ(to_toml(value), R"(seed = 1
"odd key" = [1, "x", { "a.b" = 2 }]

[model]
name = "resnet18"

[model.head]
bias = 1.0

[[phases]]
epochs = 1

[[phases]]
epochs = 2
)");
}

TEST(ToToml, spells_infinities_and_nan) {
  Value value;
  value.set("a", std::numeric_limits<double>::infinity());
  value.set("b", -std::numeric_limits<double>::infinity());
  value.set("c", std::nan(""));
  EXPECT_EQ(to_toml(value), "a = inf\nb = -inf\nc = nan\n");
  EXPECT_TRUE(std::isnan(parsed(to_toml(value)).at("c").as_double()));
}

TEST(ToToml, refuses_what_is_no_table) { EXPECT_THROW(static_cast<void>(to_toml(Value(1))), ConfigError); }

// Damaged text causes no crash (sanitizers check this) and one-line errors. Text that still parses can be printed and
// parsed to the same value.
TEST(Toml, survives_damaged_text) {
  constexpr std::uint64_t kSeed = 13;
  const std::string base =
      "a = 1\nb = [0.5, \"x\\u00e9\", 'y']\nc = { d = true, e.f = \"\"\"\nz\"\"\" }\n[s.t]\nd = 1979-05-27\n[[u]]\n\"v "
      "w\" = -0x1\n"
      "# ö\n[[u]]\nx = 1e3\n";
  int refused = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    Random random(kSeed, RandomStage::Test, i);
    const auto result = parse_toml(testing::damaged(base, random), "recipe.toml");
    if (!result.ok()) {
      ++refused;
      ASSERT_EQ(result.error().find('\n'), std::string::npos) << "seed " << kSeed << ", case " << i;
    } else {
      const std::string printed = to_toml(result.value());
      ASSERT_EQ(to_toml(parsed(printed)), printed) << "seed " << kSeed << ", case " << i;
    }
  }
  EXPECT_GT(refused, 10'000) << "damage that nothing notices tests nothing";
}

/// Position of a value, which determines what TOML can express: no nulls, and in sections plain keys before tables.
enum class Place { Section, Inline };
Value printable(const Value& value, Place place) {
  if (value.is_array()) {
    Value result = Value::array();
    const auto& array = value.as_array();
    const bool sections = place == Place::Section && !array.empty() &&
                          std::all_of(array.begin(), array.end(), [](const Value& v) { return v.is_table(); });
    for (const Value& one : array) {
      if (!one.is_null()) result.push_back(printable(one, sections ? Place::Section : Place::Inline));
    }
    return result;
  }
  if (!value.is_table()) return value;
  const auto is_section = [](const Value& v) {
    return v.is_table() ||
           (v.is_array() && !v.as_array().empty() &&
            std::all_of(v.as_array().begin(), v.as_array().end(), [](const Value& e) { return e.is_table(); }));
  };
  Value result = Value::table();
  for (const bool sections : {false, true}) {
    for (const auto& [key, entry] : value.as_table()) {
      const bool later = place == Place::Section && is_section(entry);
      if (!entry.is_null() && later == sections) result.set(key, printable(entry, place));
    }
  }
  return result;
}

RC_GTEST_PROP(TomlProperty, what_is_printed_reads_back, ()) {
  const Value value = *testing::any_document();
  RC_ASSERT(parsed(to_toml(value)) == printable(value, Place::Section));
}

RC_GTEST_PROP(TomlProperty, a_value_reads_back_alone, ()) {
  const std::string text = *testing::any_text();
  Value document;
  document.set("value", text);
  const std::string printed = to_toml(document);
  RC_ASSERT(parse_toml_value(printed.substr(8, printed.size() - 9), "x").or_throw() == Value(text));
}
}  // namespace
}  // namespace roentgen::io
