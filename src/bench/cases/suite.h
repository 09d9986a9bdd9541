// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `suite`: short versions of several cases, to accept a machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/case.h"
#include "core/value.h"

namespace roentgen::bench {

/// One test of the suite: a case and values of its options.
struct SuiteTest {
  std::string name{};
  std::string case_name{};
  std::vector<std::pair<std::string, std::string>> options{};
};

/// Tests of the suite, in the order in which they run.
[[nodiscard]] std::vector<SuiteTest> suite_tests();

/// Sets an option of a case from text. Throws ConfigError if the case has no such option, or if the text is no number
/// where the option needs one.
void set_option(Case& asked, std::string_view name, const std::string& value);

/// Runs the tests and returns a table:
///   tests   table of {<figure>, seconds_taken} by test, with the main figure of each, such as images_per_s
///   failed  array of {test, error} of the tests that threw an Error, such as a wrong answer
/// Other tests run after a failed one.
/// @param run runs one test and returns its result
[[nodiscard]] Value run_suite(const std::vector<SuiteTest>& tests, const std::function<Value(const SuiteTest&)>& run);

/// Compares a suite with a stored one. Returns an array of {test, figure, value, reference, ratio, verdict}. verdict is
/// "slower" if the figure is worse by more than `tolerance`, "missing" if the new suite lacks it, else "ok".
/// @param tolerance allowed relative difference, such as 0.1
[[nodiscard]] Value compare_suites(const Value& result, const Value& reference, double tolerance);

/// Returns "PASS", or "FAIL: " with the tests that failed, or that are slower than or missing beside the stored suite.
[[nodiscard]] std::string suite_verdict(const Value& result);

}  // namespace roentgen::bench
