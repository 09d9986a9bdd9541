// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_list.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Parsed parse(std::vector<const char*> words) {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_synth_command());
  commands.push_back(make_bench_command());
  words.insert(words.begin(), "roentgen");
  Parsed parsed = parse_arguments(static_cast<int>(words.size()), words.data(), commands);
  parsed.command = nullptr;  // the command is destroyed on return
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

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
#define RG_MAKE(name) commands.push_back(make_##name##_command());
  RG_COMMAND_LIST(RG_MAKE)
#undef RG_MAKE
  return commands;
}

TEST(Arguments, without_text_are_refused) {
  EXPECT_EQ(refusal({"bench", "step", "--model", ""}),
            "[cli.arguments] bench: --model has an empty value; try roentgen bench --help");
  EXPECT_THAT(refusal({"bench", "--json", ""}), HasSubstr("bench: --json has an empty value"));
  EXPECT_THAT(refusal({"synth", ""}), HasSubstr("synth: DIR has an empty value"));
  EXPECT_EQ(refusal({"bench", "step", "--model", "resnet18"}), "nothing refused");
}

TEST(Arguments, that_are_unknown_or_missing_are_named_with_what_is_near) {
  EXPECT_EQ(refusal({"synth", "d", "--image", "3"}),
            "[cli.arguments] synth: unknown option --image; did you mean --images?");
  EXPECT_EQ(refusal({"synth", "d", "--prevalence-f=3"}),
            "[cli.arguments] synth: unknown option --prevalence-f=3; did you mean --prevalence?");
  EXPECT_EQ(refusal({"synth", "d", "--wings"}),
            "[cli.arguments] synth: unknown option --wings; try roentgen synth --help");
  EXPECT_EQ(refusal({"synth", "d", "e"}), "[cli.arguments] synth: unexpected argument e; try roentgen synth --help");
  EXPECT_EQ(refusal({"synth"}), "[cli.arguments] synth: DIR is missing; try roentgen synth --help");
  EXPECT_EQ(refusal({"synth", "d", "--seed"}),
            "[cli.arguments] synth: --seed NUMBER needs a value; try roentgen synth --help");
  EXPECT_EQ(refusal({"bnech"}), "[cli.arguments] roentgen: unknown command bnech; did you mean bench?");
}

TEST(Arguments, without_a_command_show_first_steps) {
  const Parsed none = parse({});
  EXPECT_EQ(none.exit_code, kBadInput);
  EXPECT_THAT(none.text, AllOf(HasSubstr("\n  roentgen init DIR "), HasSubstr("\n  roentgen train ")));
}

TEST(Arguments, without_options_show_three_lines_of_a_command_that_needs_some) {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_train_command());
  const char* words[] = {"roentgen", "train"};
  const Parsed bare = parse_arguments(std::ssize(words), words, commands);
  EXPECT_EQ(bare.exit_code, kBadInput);
  EXPECT_EQ(bare.command, nullptr);
  EXPECT_EQ(std::count(bare.text.begin(), bare.text.end(), '\n'), 4) << bare.text;
}

TEST(Arguments, beyond_their_range_are_refused) {
  EXPECT_EQ(
      refusal({"bench", "step", "--steps", "0"}),
      "[cli.arguments] bench --steps: expected a whole number from 1 to 1000000, got 0; try roentgen bench --help");
  EXPECT_THAT(refusal({"synth", "d", "--seed", "-1"}),
              HasSubstr("synth --seed: expected a whole number of at least 0,"));
  EXPECT_THAT(refusal({"synth", "d", "--label-noise", "0.5"}), HasSubstr("a number from 0 to 0.4, got 0.5"));
  EXPECT_THAT(refusal({"synth", "d", "--images", "99999999999999999999"}), HasSubstr("got '99999999999999999999'"));
  EXPECT_EQ(refusal({"synth", "d", "--label-noise", "0.4", "--seed", "9223372036854775807"}), "nothing refused");
}

TEST(Arguments, that_are_numbers_say_where_they_begin) {
  for (const auto& command : all_commands()) {
    for (const Option& option : command->options()) {
      const bool is_number =
          std::holds_alternative<std::int64_t*>(option.target) || std::holds_alternative<double*>(option.target);
      if (!is_number) continue;
      EXPECT_GE(option.range.low, 0.0) << "no .range: " << command->name() << " " << option.name;
    }
  }
}

TEST(Arguments, help_of_the_program_has_examples) {
  EXPECT_THAT(parse({"--help"}).text, AllOf(HasSubstr("Examples:\n  roentgen "), HasSubstr("Exit codes")));
}

/// Expects the help for `words`, which contain `--help`, to have at most `lines` lines of at most 100 columns.
void expect_help_fits(std::vector<const char*> words, std::ptrdiff_t lines) {
  words.insert(words.begin(), "roentgen");
  const std::string text = parse_arguments(static_cast<int>(words.size()), words.data(), all_commands()).text;
  SCOPED_TRACE(text);
  EXPECT_LE(std::ranges::count(text, '\n'), lines);
  std::istringstream help(text);
  for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_TRUE(text.ends_with("\n") && !text.ends_with("\n\n"));
}

TEST(Arguments, help_fits_a_screen) {
  constexpr std::ptrdiff_t kScreen = 40;
  expect_help_fits({"--help"}, kScreen);
  for (const auto& command : all_commands()) {
    const std::string name(command->name());
    // `bench --help` lists the options of all cases and is longer; people read the help of one case.
    if (name != "bench") expect_help_fits({name.c_str(), "--help"}, kScreen);
  }
}

TEST(Arguments, help_of_a_benchmark_case_nearly_fits_a_screen) {
  const auto bench = make_bench_command();
  std::set<std::string> cases;
  for (const Option& option : bench->options()) cases.insert(option.case_name);
  cases.erase("");
  EXPECT_GT(cases.size(), 10U);
  for (const std::string& name : cases) expect_help_fits({"bench", name.c_str(), "--help"}, 48);
}

TEST(Arguments, options_with_one_text_share_a_line_of_the_help) {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_eval_command());
  const char* words[] = {"roentgen", "eval", "--help"};
  const std::string text = parse_arguments(std::ssize(words), words, commands).text;
  EXPECT_THAT(text, HasSubstr("\n  --replicates,--seed NUMBER  "));
  EXPECT_THAT(text, HasSubstr("\n  --batch NUMBER=32           images per batch\n"));
}

TEST(Arguments, help_of_a_benchmark_case_has_its_options_and_examples_alone) {
  const std::string step = parse({"bench", "step", "--help"}).text;
  EXPECT_THAT(step, AllOf(HasSubstr("--profile"), HasSubstr("--json"), HasSubstr("\n  roentgen bench step --model")));
  EXPECT_THAT(step,
              AllOf(Not(HasSubstr("--pipeline")), Not(HasSubstr("--write")), Not(HasSubstr("(cases step, infer)"))));
  EXPECT_THAT(step, Not(HasSubstr("bench infer --model")));
  EXPECT_THAT(parse({"bench", "choose", "--help"}).text, AllOf(HasSubstr("--write"), Not(HasSubstr("--profile"))));
  EXPECT_THAT(parse({"bench", "--help"}).text, AllOf(HasSubstr("(cases step, infer)"), HasSubstr("--pipeline")));
  EXPECT_THAT(parse({"synth", "dir", "--help"}).text, AllOf(HasSubstr("--images"), HasSubstr("Examples:\n")));
}

TEST(Arguments, options_of_another_case_are_refused) {
  EXPECT_THAT(refusal({"bench", "links", "--reduce", "ring"}),
              AllOf(StartsWith("[cli.bench] --reduce: expected one of the benchmark cases short, "),
                    EndsWith("allreduce, scaling, got links; try bench short")));
  EXPECT_THAT(refusal({"bench", "--profile", "links"}), HasSubstr("[cli.bench] --profile: expected one of"));
  EXPECT_EQ(refusal({"bench", "infer", "--profile"}), "nothing refused");
}

TEST(Arguments, an_option_of_several_cases_goes_to_the_one_that_is_asked_for) {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_bench_command());
  const char* words[] = {"roentgen", "bench", "infer", "--steps", "7"};
  static_cast<void>(parse_arguments(std::ssize(words), words, commands));
  const std::unique_ptr<Command> unchanged = make_bench_command();
  const std::vector<Option> defaults = unchanged->options();
  const std::vector<Option> options = commands[0]->options();
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].name != "--steps") continue;
    const std::int64_t usual = *std::get<std::int64_t*>(defaults[i].target);
    EXPECT_EQ(*std::get<std::int64_t*>(options[i].target), options[i].case_name == "infer" ? 7 : usual)
        << options[i].case_name;
  }
}

TEST(Arguments, help_names_an_argument_once) {
  EXPECT_THAT(parse({"synth", "--help"}).text, AllOf(HasSubstr("DIR (required) "), Not(HasSubstr("DIR FILE"))));
  EXPECT_THAT(parse({"bench", "--help"}).text, HasSubstr("CASE=step "));
}

}  // namespace
}  // namespace roentgen::cli
