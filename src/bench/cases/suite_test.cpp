// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/case_list.h"
#include "bench/ledger/record_testing.h"
#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

Value suite(double images_per_s, double run_ms) {
  return run_suite({{.name = "train", .case_name = "step"}, {.name = "norm", .case_name = "norm"}},
                   [&](const SuiteTest& test) -> Value {
                     if (test.name == "train") return Value::Table{{"images_per_s", images_per_s}, {"step_ms", 4.0}};
                     return Value::Table{{"run_ms", run_ms}};
                   });
}

TEST(Suite, tests_are_cases_with_their_options) {
  const std::vector<NamedCase> cases = make_cases();
  for (const SuiteTest& test : suite_tests()) {
    Case& asked = find_case(cases, test.case_name);
    for (const auto& [name, value] : test.options) EXPECT_NO_THROW(set_option(asked, name, value)) << test.name << name;
  }
  EXPECT_THAT([&] { set_option(find_case(cases, "step"), "--no-such", "1"); },
              ThrowsMessage<ConfigError>(HasSubstr("--no-such")));
  EXPECT_THROW(set_option(find_case(cases, "step"), "--steps", "1x"), ConfigError);
}

TEST(Suite, has_the_main_figure_of_each_test) {
  const Value result = suite(10.0, 2.0);
  EXPECT_EQ(result.at("tests").at("train").at("images_per_s").as_double(), 10.0);
  EXPECT_EQ(result.at("tests").at("train").find("step_ms"), nullptr);
  EXPECT_EQ(result.at("tests").at("norm").at("run_ms").as_double(), 2.0);
  EXPECT_THAT(result.at("failed").as_array(), IsEmpty());
}

TEST(Suite, goes_on_after_a_wrong_answer_and_reports_it) {
  const Value result =
      run_suite({{.name = "a", .case_name = "a"}, {.name = "b", .case_name = "b"}}, [](const SuiteTest& test) -> Value {
        if (test.name == "a") throw DeviceError("wrong mean");
        return Value::Table{{"run_ms", 1.0}};
      });
  EXPECT_THAT(result.at("tests").as_table(), SizeIs(1));
  EXPECT_EQ(result.at("failed").as_array().at(0).at("error").as_string(), "wrong mean");
}

std::string verdicts(const Value& result, const Value& reference) {
  std::string text;
  const Value rows = compare_suites(result, reference, 0.1);
  for (const Value& row : rows.as_array()) {
    text += row.at("verdict").as_string() + " ";
  }
  return text;
}

TEST(Suite, is_compared_with_a_stored_one_in_the_direction_of_each_figure) {
  EXPECT_EQ(verdicts(suite(9.1, 2.1), suite(10.0, 2.0)), "ok ok ");
  EXPECT_EQ(verdicts(suite(8.9, 2.0), suite(10.0, 2.0)), "slower ok ");
  EXPECT_EQ(verdicts(suite(20.0, 2.3), suite(10.0, 2.0)), "ok slower ");
  Value without = suite(10.0, 2.0);
  without.set("tests", Value::table());
  EXPECT_EQ(verdicts(without, suite(10.0, 2.0)), "missing missing ");
}

TEST(Suite, fails_if_a_test_failed_or_is_slower) {
  const std::vector<NamedCase> cases = make_cases();
  const Case& asked = find_case(cases, "suite");
  Value result = suite(10.0, 2.0);
  EXPECT_FALSE(asked.has_failed(result));
  result.set("against", compare_suites(result, suite(20.0, 2.0), 0.1));
  EXPECT_TRUE(asked.has_failed(result));
  Value broken = suite(10.0, 2.0);
  broken.set("failed", Value(Value::Array{Value::Table{{"test", "a"}}}));
  EXPECT_TRUE(asked.has_failed(broken));
  EXPECT_EQ(suite_verdict(suite(10.0, 2.0)), "PASS");
  EXPECT_EQ(suite_verdict(result), "FAIL: train is slower");
  EXPECT_EQ(suite_verdict(broken), "FAIL: a failed");
}

TEST(Suite, is_not_compared_with_a_suite_that_failed) {
  TemporaryFolder folder;
  const std::vector<NamedCase> cases = make_cases();
  Case& asked = find_case(cases, "suite");
  set_option(asked, "--against", folder.path().string());
  Value slow = suite(10.0, 2.0);
  slow.set("against", compare_suites(slow, suite(20.0, 2.0), 0.1));
  const auto file = write_record(folder.path(), made_record(0, "aaaa", "suite", slow).value);
  EXPECT_THAT([&] { static_cast<void>(asked.run({})); },
              ThrowsMessage<ConfigError>(HasSubstr("got only suites that failed")));
  std::filesystem::remove(file);
  static_cast<void>(write_record(folder.path(), made_record(0, "aaaa", "suite", Value::Table{{"tests", 3}}).value));
  EXPECT_THAT([&] { static_cast<void>(asked.run({})); },
              ThrowsMessage<DataError>(HasSubstr("expected the entries `tests` and `failed`")));
}

}  // namespace
}  // namespace roentgen::bench
