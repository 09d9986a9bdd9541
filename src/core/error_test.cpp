// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/error.h"

#include <gtest/gtest.h>

#include <string>

namespace roentgen {
namespace {
TEST(ErrorText, names_thing_what_expected_got_and_remedy) {
  EXPECT_EQ(error_text("data.png", "study_0042.png", "8 or 16 bit gray", "palette", "data.channels=3"),
            "[data.png] study_0042.png: expected 8 or 16 bit gray, got palette; try data.channels=3");
}

TEST(ErrorText, leaves_an_empty_remedy_out) {
  EXPECT_EQ(error_text("io.csv", "labels.csv", "a header line", "an empty file"),
            "[io.csv] labels.csv: expected a header line, got an empty file");
}

TEST(ErrorText, is_one_line_whatever_the_parts_hold) {
  const std::string text = error_text("a\nb", "c\rd", "e\r\nf", "g\n", "h\ni");
  EXPECT_EQ(text, "[a b] c d: expected e  f, got g ; try h i");
}

TEST(Error, every_kind_is_an_error_and_keeps_its_text) {
  const auto text_of = [](const auto& thrower) -> std::string {
    try {
      thrower();
    } catch (const Error& error) {
      return error.what();
    }
    return "not thrown";
  };
  EXPECT_EQ(text_of([] { throw ConfigError("config"); }), "config");
  EXPECT_EQ(text_of([] { throw DataError("data"); }), "data");
  EXPECT_EQ(text_of([] { throw ShapeError("shape"); }), "shape");
  EXPECT_EQ(text_of([] { throw DeviceError("device"); }), "device");
  EXPECT_EQ(text_of([] { throw CommError("comm"); }), "comm");
}

TEST(Assertion, names_condition_and_place) {
  const int line = __LINE__ + 2;
  try {
    RG_ASSERT(1 + 1 == 3);
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos) << text;
    EXPECT_NE(text.find("error_test.cpp:" + std::to_string(line)), std::string::npos) << text;
  }
}

TEST(Assertion, says_nothing_when_the_condition_holds) { EXPECT_NO_THROW(RG_ASSERT(1 + 1 == 2)); }
}  // namespace
}  // namespace roentgen
