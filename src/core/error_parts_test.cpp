// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/error_parts.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/short_error.h"

namespace roentgen {
namespace {

TEST(ErrorParts, are_those_the_text_was_made_of) {
  const ErrorParts parts = error_parts(error_text("data.png", "a: b.png", "a PNG, whole", "half; of it", "another"));
  EXPECT_EQ(parts.thing, "data.png");
  EXPECT_EQ(parts.what, "a: b.png");
  EXPECT_EQ(parts.expected, "a PNG, whole");
  EXPECT_EQ(parts.got, "half; of it");
  EXPECT_EQ(parts.remedy, "another");
}

TEST(ErrorParts, a_line_without_remedy_has_none) {
  const ErrorParts parts = error_parts(error_text("io.file", "x", "a file", "a folder"));
  EXPECT_EQ(parts.got, "a folder");
  EXPECT_EQ(parts.remedy, "");
}

TEST(ErrorParts, a_short_text_has_no_expected) {
  const std::string text = short_error_text("io.file", "x.png", "no such file");
  const ErrorParts parts = error_parts(text);
  EXPECT_EQ(parts.thing, "io.file");
  EXPECT_EQ(parts.what, "x.png");
  EXPECT_EQ(parts.expected, "");
  EXPECT_EQ(parts.got, "no such file");
  EXPECT_EQ(cause_of(text), "no such file");
  EXPECT_EQ(with_place(text, "r.toml: "), "[io.file] r.toml: x.png: no such file");
  EXPECT_EQ(with_remedy(text, "another"), "[io.file] x.png: no such file; try another");
}

TEST(ErrorParts, another_text_is_all_got) {
  const ErrorParts parts = error_parts("std::bad_alloc");
  EXPECT_EQ(parts.thing, "");
  EXPECT_EQ(parts.got, "std::bad_alloc");
  EXPECT_EQ(cause_of("std::bad_alloc"), "std::bad_alloc");
}

TEST(ErrorParts, another_text_keeps_its_bracket) {
  for (const char* text : {"[x] y", "[x", "[x] y: expected z", "[x] y, got z"}) {
    EXPECT_EQ(cause_of(text), text);
    EXPECT_EQ(with_remedy(text, "that"), std::string(text) + "; try that");
    EXPECT_EQ(error_parts(text).thing, "");
    EXPECT_EQ(error_parts(text).what, "");
  }
}

TEST(ErrorParts, a_remedy_replaces_the_one_before) {
  EXPECT_EQ(with_remedy(error_text("io.file", "x", "a file", "a folder", "this"), "that"),
            error_text("io.file", "x", "a file", "a folder", "that"));
  EXPECT_EQ(with_remedy(error_text("io.file", "x", "a file", "a folder"), "that"),
            error_text("io.file", "x", "a file", "a folder", "that"));
}

TEST(ErrorParts, a_place_goes_before_what_it_is_about) {
  EXPECT_EQ(with_place(error_text("data.preprocess", "fit", "crop", "cut", "crop"), "r.toml: preprocess."),
            "[data.preprocess] r.toml: preprocess.fit: expected crop, got cut; try crop");
  EXPECT_EQ(with_place("out of memory", "r.toml: "), "r.toml: out of memory");
}

TEST(ErrorParts, the_cause_stands_without_place_and_remedy) {
  EXPECT_EQ(cause_of(error_text("io.file", "x", "a file", "a folder", "this")), "a folder, not a file");
}

}  // namespace
}  // namespace roentgen
