// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "core/utf8.h"
#include "io/value_testing.h"

namespace roentgen::io {
namespace {
TEST(QuoteString, escapes_what_json_and_toml_must) {
  EXPECT_EQ(quote_string("a \"b\" \\ c"), "\"a \\\"b\\\" \\\\ c\"");
  EXPECT_EQ(quote_string("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\"");
  EXPECT_EQ(quote_string(std::string("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\\u007f\"");
}

TEST(QuoteString, keeps_well_formed_utf8) {
  EXPECT_EQ(quote_string("R\xC3\xB6ntgen \xE2\x82\xAC \xF0\x9F\xA9\xBB"),
            "\"R\xC3\xB6ntgen \xE2\x82\xAC \xF0\x9F\xA9\xBB\"");
}

TEST(QuoteString, replaces_ill_formed_bytes) {
  EXPECT_EQ(quote_string("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(quote_string("\xC3"), "\"\xEF\xBF\xBD\"") << "cut short";
  EXPECT_EQ(quote_string("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "a surrogate";
}

TEST(Utf8Length, knows_every_form_and_refuses_the_rest) {
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("\xC2\x80"), 2U);
  EXPECT_EQ(utf8_length("\xE0\xA0\x80"), 3U);
  EXPECT_EQ(utf8_length("\xEF\xBF\xBD"), 3U);
  EXPECT_EQ(utf8_length("\xF0\x90\x80\x80"), 4U);
  EXPECT_EQ(utf8_length("\xF4\x8F\xBF\xBF"), 4U);
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3(", "\xE2\x82", "\xF0\x9F\xA9", ""}) {
    EXPECT_EQ(utf8_length(bad), 0U) << quote_string(bad);
  }
}

TEST(Shortest, spells_numbers_as_short_as_they_can_be) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e-4), "1e-04");
  EXPECT_EQ(shortest(1e300), "1e+300");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
}

TEST(Shortest, never_looks_like_an_integer) {
  EXPECT_EQ(shortest(1.0), "1.0");
  EXPECT_EQ(shortest(-0.0), "-0.0");
  EXPECT_EQ(shortest(1e15), "1e+15");
  EXPECT_EQ(shortest(123456.0), "123456.0");
}

TEST(Shortest, names_what_is_no_number) {
  EXPECT_EQ(shortest(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(shortest(-std::nan("")), "nan");
}

RC_GTEST_PROP(ShortestProperty, reads_back_as_the_same_bits, ()) {
  const double value = *testing::any_finite();
  const double read = std::strtod(shortest(value).c_str(), nullptr);
  RC_ASSERT(std::bit_cast<std::uint64_t>(read) == std::bit_cast<std::uint64_t>(value));
}
}  // namespace
}  // namespace roentgen::io
