// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/short_error.h"

#include <gtest/gtest.h>

namespace roentgen {
namespace {

TEST(ShortErrorText, names_thing_what_problem_and_remedy) {
  EXPECT_EQ(short_error_text("io.file", "a.png", "no such file"), "[io.file] a.png: no such file");
  EXPECT_EQ(short_error_text("cli.arguments", "train", "unknown option --a\nb", "did you mean --ab?"),
            "[cli.arguments] train: unknown option --a b; did you mean --ab?");
}

}  // namespace
}  // namespace roentgen
