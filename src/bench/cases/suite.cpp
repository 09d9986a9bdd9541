// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/ledger/figures.h"
#include "bench/ledger/record.h"
#include "bench/options.h"
#include "core/error.h"
#include "core/log.h"

namespace roentgen::bench {
namespace {

template <typename T>
T number_in(const std::string& text, std::string_view option) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw ConfigError(error_text("bench.suite", option, "a number", text, "a number"));
}

constexpr std::string_view kPass = "PASS";

/// Main figure of a result: the first at its top level, or else the first of all.
std::optional<Figure> main_figure(const Value& result) {
  const std::vector<Figure> figures = main_figures(result);
  const auto top =
      std::ranges::find_if(figures, [](const Figure& figure) { return figure.name.find(' ') == std::string::npos; });
  if (top != figures.end()) return *top;
  return figures.empty() ? std::nullopt : std::optional(figures.front());
}

}  // namespace

std::vector<SuiteTest> suite_tests() {
  return {{.name = "peak", .case_name = "peak"},
          {.name = "decode", .case_name = "data.decode_png", .options = {{"--steps", "10"}}},
          {.name = "batch norm", .case_name = "engine.batch_norm", .options = {{"--steps", "5"}}},
          {.name = "train resnet50",
           .case_name = "step",
           .options = {{"--model", "resnet50"}, {"--batch", "8"}, {"--warmup", "2"}, {"--steps", "10"}}},
          {.name = "train densenet121",
           .case_name = "step",
           .options = {{"--model", "densenet121"}, {"--batch", "8"}, {"--warmup", "2"}, {"--steps", "10"}}}};
}

void set_option(Case& asked, std::string_view name, const std::string& value) {
  for (const Option& option : asked.options()) {
    if (option.name != name) continue;
    std::visit(
        [&](auto* target) {
          using T = std::remove_pointer_t<decltype(target)>;
          if constexpr (std::is_same_v<T, bool>) {
            *target = value == "true";
          } else if constexpr (std::is_arithmetic_v<T>) {
            *target = number_in<T>(value, name);
          } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            *target = {value};
          } else {
            *target = value;
          }
        },
        option.target);
    return;
  }
  throw ConfigError(
      error_text("bench.suite", name, "the name of an option of this case", "another name", "another option"));
}

Value run_suite(const std::vector<SuiteTest>& tests, const std::function<Value(const SuiteTest&)>& run) {
  Value rows = Value::table(), failed = Value::array();
  for (const SuiteTest& test : tests) {
    log::info(fmt::format("suite: {} ({} of {})", test.name, &test - tests.data() + 1, tests.size()));
    const auto begin = Clock::now();
    try {
      const Value result = run(test);
      Value row = Value::table();
      if (const auto figure = main_figure(result)) row.set(figure->name, figure->value);
      row.set("seconds_taken", seconds_since(begin));
      rows.set(test.name, std::move(row));
    } catch (const Error& error) {
      failed.push_back(Value::Table{{"test", test.name}, {"error", error.what()}});
    }
  }
  return Value::Table{{"case", "suite"}, {"tests", std::move(rows)}, {"failed", std::move(failed)}};
}

Value compare_suites(const Value& result, const Value& reference, double tolerance) {
  Value rows = Value::array();
  for (const auto& [test, stored] : reference.at("tests").as_table()) {
    for (const Figure& figure : main_figures(stored)) {
      const Value* const row = result.at("tests").find(test);
      const Value* const value = row == nullptr ? nullptr : row->find(figure.name);
      const double ratio = value == nullptr ? 0.0 : value->as_double() / figure.value;
      const bool is_slower = figure.kind == FigureKind::Time ? ratio > 1.0 + tolerance : ratio < 1.0 - tolerance;
      std::string_view verdict = is_slower ? "slower" : "ok";
      if (value == nullptr) verdict = "missing";
      rows.push_back(Value::Table{{"test", test},
                                  {"figure", figure.name},
                                  {"value", value == nullptr ? Value() : *value},
                                  {"reference", figure.value},
                                  {"ratio", value == nullptr ? Value() : Value(ratio)},
                                  {"verdict", verdict}});
    }
  }
  return rows;
}

std::string suite_verdict(const Value& result) {
  std::vector<std::string> reasons;
  for (const Value& test : result.at("failed").as_array()) reasons.push_back(test.at("test").as_string() + " failed");
  if (const Value* const against = result.find("against")) {
    for (const Value& row : against->as_array()) {
      const std::string& verdict = row.at("verdict").as_string();
      if (verdict != "ok") reasons.push_back(fmt::format("{} is {}", row.at("test").as_string(), verdict));
    }
  }
  return reasons.empty() ? std::string(kPass) : fmt::format("FAIL: {}", fmt::join(reasons, ", "));
}

namespace {

/// Throws DataError if a stored result of the case suite lacks its tables.
void require_suite(const std::filesystem::path& file, const Value& result) {
  const Value* const tests = result.find("tests");
  const Value* const failed = result.find("failed");
  const bool is_suite = tests != nullptr && tests->is_table() && failed != nullptr && failed->is_array();
  if (is_suite) return;
  throw DataError(error_text("bench.suite", file.string(), "the entries `tests` and `failed`", "other entries",
                             "a record that bench suite wrote"));
}

class SuiteCase final : public Case {
 public:
  SuiteCase()
      : Case("short versions of several cases, to accept a machine; exit code 1 if one fails or is slow",
             "roentgen bench suite\n"
             "roentgen bench suite --against accepted/ --tolerance 10") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({network_.options({"--device", "--threads"}),
                   {{.name = "--against",
                     .target = &against_,
                     .doc = "record of an earlier suite, or a folder, whose latest suite counts",
                     .value_name = "RECORD"},
                    {.name = "--tolerance",
                     .target = &tolerance_percent_,
                     .doc = "allowed loss of speed, %",
                     .range = {0, 99}}}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    const std::optional<Value> reference = reference_result();
    const std::vector<NamedCase> cases = make_cases();
    const auto run_test = [&](const SuiteTest& test) {
      Case& asked = find_case(cases, test.case_name);
      for (const Option& option : asked.options()) {
        if (option.name == "--device") set_option(asked, "--device", network_.network.device);
        if (option.name == "--threads") set_option(asked, "--threads", fmt::to_string(network_.threads));
      }
      for (const auto& [name, value] : test.options) set_option(asked, name, value);
      return asked.run(host);
    };
    Value result = run_suite(suite_tests(), run_test);
    result.set("device", device());
    result.set("threads", network_.threads);
    if (reference) result.set("against", compare_suites(result, *reference, tolerance_percent_ / 100.0));
    result.set("verdict", suite_verdict(result));
    add_environment(result);
    return result;
  }
  [[nodiscard]] bool has_failed(const Value& result) const override { return suite_verdict(result) != kPass; }

 private:
  /// Result of the latest stored suite; nullopt without --against.
  [[nodiscard]] std::optional<Value> reference_result() const {
    if (against_.empty()) return std::nullopt;
    std::optional<Value> latest;
    bool has_suite = false;
    for (const StoredRecord& record : read_records(against_)) {
      if (record.value.at("case").as_string() != "suite") continue;
      has_suite = true;
      const Value& result = record.value.at("result");
      require_suite(record.file, result);
      // A slow suite would lower what later ones must reach.
      if (suite_verdict(result) == kPass) latest = result;
    }
    if (latest) {
      require_own_settings(*latest);
      return latest;
    }
    throw ConfigError(error_text("bench.suite", against_, "a record of the case suite that passed",
                                 has_suite ? "only suites that failed" : "records of other cases",
                                 "running bench suite --ledger DIR on a machine that you trust"));
  }

  /// Device that computes, such as "cpu" for auto.
  [[nodiscard]] std::string device() const { return network_.sized(SizeArguments{}).device; }

  /// Throws ConfigError if a stored suite ran with another --device or --threads.
  void require_own_settings(const Value& reference) const {
    const Value::Table own{{"device", device()}, {"threads", network_.threads}};
    const Value::Table stored = record_settings(reference);
    if (stored == own) return;
    throw ConfigError(error_text("bench.suite", against_, "a suite that ran with " + settings_text(own),
                                 "a suite that ran with " + settings_text(stored), "the same --device and --threads"));
  }

  NetworkArguments network_;
  std::string against_;
  double tolerance_percent_ = 10.0;
};

}  // namespace

std::unique_ptr<Case> make_suite_case() { return std::make_unique<SuiteCase>(); }

}  // namespace roentgen::bench
