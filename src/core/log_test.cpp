// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/terminal.h"

namespace roentgen {
namespace {
/// Returns the text that `write` prints to standard error.
template <typename Write>
std::string captured(Write write) {
  testing::internal::CaptureStderr();
  write();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, writes_level_and_text_to_standard_error) {
  const std::string text = captured([] { log::warning("three images skipped"); });
  EXPECT_NE(text.find("warning: three images skipped\n"), std::string::npos) << text;
}

TEST(Log, takes_braces_and_percent_signs_literally) {
  const std::string text = captured([] { log::info("{} {0} %d %s"); });
  EXPECT_NE(text.find("info: {} {0} %d %s\n"), std::string::npos) << text;
}

TEST(Log, drops_what_is_below_its_level) {
  log::set_level(log::Level::Error);
  const std::string text = captured([] {
    log::warning("not shown");
    log::error("shown");
  });
  log::set_level(log::Level::Info);
  EXPECT_EQ(text.find("not shown"), std::string::npos) << text;
  EXPECT_NE(text.find("error: shown\n"), std::string::npos) << text;
}

TEST(Log, drops_what_standard_error_does_not_take) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        if (std::freopen("/dev/full", "w", stderr) == nullptr) std::_Exit(1);
        terminal::print_error("epoch 1");
        log::warning("three images skipped");
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}
}  // namespace
}  // namespace roentgen
