// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/terminal.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "core/log.h"

namespace roentgen {
namespace {

/// Returns the text that `write` prints to standard error.
template <typename Write>
std::string errors_of(Write write) {
  testing::internal::CaptureStderr();
  write();
  return testing::internal::GetCapturedStderr();
}

TEST(Terminal, prints_lines_without_other_control_characters) {
  testing::internal::CaptureStdout();
  terminal::print("one\n\ntwo \x1b[31m\r\n{}");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one\n\ntwo \\x1b[31m\\r\n{}");
}

TEST(Terminal, tabs_between_columns_are_kept) {
  testing::internal::CaptureStdout();
  terminal::print_tabbed("1\ttwo\x1b[31m\n2\t\n");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1\ttwo\\x1b[31m\n2\t\n");
}

TEST(Terminal, programs_get_text_as_it_is) {
  testing::internal::CaptureStdout();
  terminal::print_for_programs("/data/caf\xe9\n");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "/data/caf\xe9\n");
}

TEST(Terminal, an_error_is_one_line) {
  EXPECT_EQ(errors_of([] { terminal::print_error("a\nb\x1b"); }), "a\\nb\\x1b\n");
}

TEST(Terminal, progress_is_replaced_and_removed_once) {
  const std::string text = errors_of([] {
    terminal::show_progress("1 of 2\x07");
    terminal::show_progress("2 of 2");
    terminal::print_error("told");
    terminal::clear_progress();
  });
  EXPECT_EQ(text, "\r\x1b[K1 of 2\\x07\r\x1b[K2 of 2\r\x1b[Ktold\n");
}

TEST(Terminal, a_log_line_holds_no_control_character) {
  const std::string text = errors_of([] { log::warning("file \x1b]0;t\x07.png"); });
  EXPECT_NE(text.find("warning: file \\x1b]0;t\\x07.png\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace roentgen
