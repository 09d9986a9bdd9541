// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_list.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Parsed parse(std::vector<const char*> words) {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_synth_command());
  commands.push_back(make_bench_command());
  words.insert(words.begin(), "roentgen");
  Parsed parsed = parse_arguments(static_cast<int>(words.size()), words.data(), commands);
  parsed.command = nullptr;  // it goes with its list
  return parsed;
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    static_cast<void>(parse(words));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing refused";
}

TEST(Arguments, without_text_are_refused) {
  EXPECT_EQ(refusal({"bench", "step", "--model", ""}),
            "[cli.arguments] bench: expected --model TEXT, got --model with nothing; try roentgen bench --help");
  EXPECT_THAT(refusal({"bench", "--json", ""}), HasSubstr("expected --json FILE, got --json with nothing"));
  EXPECT_THAT(refusal({"synth", ""}), HasSubstr("expected DIR, got DIR with nothing"));
  EXPECT_EQ(refusal({"bench", "step", "--model", "resnet18"}), "nothing refused");
}

TEST(Arguments, help_of_the_program_has_examples) {
  EXPECT_THAT(parse({"--help"}).text, AllOf(HasSubstr("Examples:\n  roentgen "), HasSubstr("Exit codes")));
}

TEST(Arguments, help_names_an_argument_once) {
  EXPECT_THAT(parse({"synth", "--help"}).text, AllOf(HasSubstr("DIR (required) "), Not(HasSubstr("DIR FILE"))));
  EXPECT_THAT(parse({"bench", "--help"}).text, HasSubstr("CASE=step "));
}

}  // namespace
}  // namespace roentgen::cli
