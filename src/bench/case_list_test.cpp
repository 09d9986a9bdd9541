// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/case_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "core/error.h"

namespace roentgen::bench {
namespace {

// Runs a case after setting some of its options to the given numbers.
Value run(std::string_view name, const std::map<std::string, std::int64_t>& numbers) {
  const std::vector<NamedCase> cases = make_cases();
  Case& asked = find_case(cases, name);
  for (const Option& option : asked.options()) {
    if (numbers.contains(option.name)) *std::get<std::int64_t*>(option.target) = numbers.at(option.name);
  }
  return asked.run({});
}

TEST(Cases, differ_in_name_and_describe_themselves) {
  std::set<std::string_view> names;
  for (const auto& [name, each] : make_cases()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(each->summary().empty()) << name;
    EXPECT_THAT(std::string(each->example()), testing::HasSubstr("roentgen bench " + std::string(name))) << name;
  }
}

TEST(Cases, have_an_option_once) {
  for (const auto& [name, each] : make_cases()) {
    std::set<std::string> options;
    for (const Option& option : each->options()) {
      EXPECT_TRUE(options.insert(option.name).second) << name << " " << option.name;
    }
  }
}

TEST(Cases, that_are_none_are_refused_with_all_there_are) {
  const std::vector<NamedCase> cases = make_cases();
  try {
    static_cast<void>(find_case(cases, "data.nothing"));
    FAIL() << "an unknown case was found";
  } catch (const ConfigError& error) {
    for (const NamedCase& each : cases) EXPECT_THAT(error.what(), testing::HasSubstr(std::string(each.name)));
  }
}

TEST(Cases, decode_png_checks_its_answer_and_repeats_its_checksum) {
  const Value first = run("data.decode_png", {{"--warmup", 0}, {"--steps", 2}});
  EXPECT_GT(first.at("pixels_per_s").as_double(), 0.0);
  EXPECT_EQ(first.at("checksum"), run("data.decode_png", {{"--warmup", 0}, {"--steps", 1}}).at("checksum"));
}

TEST(Cases, batch_norm_checks_its_answer) {
  const Value result = run("engine.batch_norm", {{"--warmup", 0}, {"--steps", 1}, {"--threads", 1}});
  EXPECT_GT(result.at("gb_per_s").as_double(), 0.0);
}

}  // namespace
}  // namespace roentgen::bench
