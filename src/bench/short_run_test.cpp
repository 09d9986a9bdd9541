// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/short_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/calibration.h"
#include "bench/case_list.h"
#include "bench/disturbance.h"
#include "bench/harness.h"
#include "bench/ledger/figures.h"
#include "bench/ledger/published.h"
#include "bench/ledger/record_testing.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Steps of 0.1 s, of which some may be changed.
std::vector<double> steady(std::size_t steps = 100) { return std::vector<double>(steps, 0.1); }

/// Result of run_scaling_point() with these times, 8 images a rank.
Value point(std::int64_t ranks, const std::vector<double>& step_s,
            const Disturbance& disturbance = {.other_cores = 0.0}, bool is_oversubscribed = false) {
  return Value::Table{{"case", "scaling"},
                      {"ranks", ranks},
                      {"hosts", 1},
                      {"batch", 8},
                      {"threads", 1},
                      {"dtype", "f32"},
                      {"data_wait", 0.0},
                      {"comm_exposed", 0.25},
                      {"oversubscribed", is_oversubscribed},
                      {"kind", "measured"},
                      {"disturbance", to_value(disturbance)},
                      {"calibration", Value()},
                      {"samples", Value::Table{{"step_s", samples_of(step_s)}}}};
}

std::vector<std::string> warnings_of(const Value& result) {
  std::vector<std::string> warnings;
  for (const Value& text : result.at("warnings").as_array()) warnings.push_back(text.as_string());
  return warnings;
}

TEST(Short, steady_run_has_the_mean_of_all_devices_and_no_warning) {
  const Value row = short_row(point(4, steady()));
  EXPECT_NEAR(row.at("images_per_s").as_double(), 4 * 8 / 0.1, 1e-9);
  EXPECT_NEAR(row.at("uncertainty").as_double(), 0.0, 1e-9);
  EXPECT_EQ(row.at("settled_from").as_integer(), 1);
  EXPECT_EQ(row.at("n").as_integer(), 100);
  EXPECT_THAT(warnings_of(row), IsEmpty());
}

TEST(Short, planted_burst_is_flagged_with_its_steps) {
  std::vector<double> step_s = steady();
  for (std::size_t i = 30; i < 50; ++i) step_s[i] *= 1.10;
  const Value result =
      run_short_points({1}, Value::Table{{"case", "short"}}, [&](std::int64_t) { return short_row(point(1, step_s)); });
  EXPECT_THAT(warnings_of(result), Contains("steps 31 to 50 took 10% longer than the median step"));
  EXPECT_THAT(warnings_of(result), Contains(HasSubstr("more than 2%")));
  EXPECT_THAT(warnings_of(result), Contains(HasSubstr("no cause was found")));
}

TEST(Short, disturbance_is_named_as_the_cause) {
  std::vector<double> step_s = steady();
  for (std::size_t i = 0; i < 100; i += 4) step_s[i] *= 1.2;
  const std::vector<std::string> warnings = warnings_of(short_row(point(1, step_s, {.other_cores = 0.9})));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("varies by"), "other processes used 0.9 cores"));
  EXPECT_THAT(warnings_of(short_row(point(1, steady(), {.throttles = 2}))),
              ElementsAre("cores became slower because of heat 2 times"))
      << "it may have slowed all steps alike";
}

TEST(Short, slower_machine_is_named_as_the_cause) {
  std::vector<double> step_s = steady();
  for (std::size_t i = 50; i < 100; ++i) step_s[i] *= 1.1;
  Value result = point(1, step_s);
  Calibration calibration{.steps = {0, 25, 50, 75, 100},
                          .samples = {{1e-3, 2e-3}, {1e-3, 2e-3}, {1.1e-3, 2e-3}, {1.1e-3, 2e-3}, {1.1e-3, 2e-3}}};
  result.set("calibration", to_value(calibration));
  const Value row = short_row(result);
  EXPECT_THAT(warnings_of(row),
              ElementsAre(HasSubstr("varies by"),
                          "the machine itself computed 9% slower in steps 51 to 75 than in steps 1 to 25, and the "
                          "steps took 10% longer"));
  EXPECT_EQ(row.at("calibration"), result.at("calibration"));
}

TEST(Short, drift_is_not_settled) {
  std::vector<double> step_s = steady();
  for (std::size_t i = 0; i < step_s.size(); ++i) step_s[i] *= 1.0 + 0.002 * static_cast<double>(i);
  const Value row = short_row(point(1, step_s));
  EXPECT_TRUE(row.at("settled_from").is_null());
  EXPECT_THAT(warnings_of(row), Contains(HasSubstr("still changed in the second half")));
}

TEST(Short, several_numbers_have_speedup_and_efficiency) {
  const Value result = run_short_points({1, 4}, Value::Table{{"case", "short"}}, [](std::int64_t ranks) {
    std::vector<double> step_s(100, ranks == 1 ? 0.1 : 0.125);
    if (ranks == 4) step_s[9] = step_s[10] = step_s[11] = 0.25;
    return short_row(point(ranks, step_s));
  });
  const Value::Array& rows = result.at("points").as_array();
  EXPECT_NEAR(rows[0].at("efficiency").as_double(), 1.0, 1e-9);
  EXPECT_NEAR(rows[1].at("speedup").as_double(), 4 * 0.1 / 0.12875, 1e-9);
  EXPECT_NEAR(rows[1].at("efficiency").as_double(), 0.1 / 0.12875, 1e-9);
  EXPECT_EQ(result.at("batch").as_integer(), 8) << "equal in all rows";
  EXPECT_EQ(rows[0].find("batch"), nullptr);
  EXPECT_THAT(warnings_of(result), Contains("4 ranks: steps 10 to 12 took 100% longer than the median step"));
}

TEST(Short, ranks_that_share_cores_have_no_efficiency) {
  const Value result = run_short_points(
      {1, 4}, Value::table(), [](std::int64_t ranks) { return short_row(point(ranks, steady(), {}, ranks == 4)); });
  EXPECT_TRUE(result.at("points").as_array()[1].at("efficiency").is_null());
  EXPECT_FALSE(result.at("points").as_array()[0].at("efficiency").is_null());
}

TEST(Short, row_is_found_in_the_result_of_one_number) {
  const Value row = short_row(point(4, steady()));
  const Value result = run_short_points({4}, Value::Table{{"case", "short"}}, [&](std::int64_t) { return row; });
  EXPECT_EQ(short_row_in(result), row);
}

TEST(Short, reports_find_the_speed_of_every_number) {
  const auto run = [](std::int64_t ranks) { return short_row(point(ranks, steady())); };
  const Value settings = Value::Table{{"case", "short"}, {"model", "resnet50"}, {"device", "cpu"}};
  const std::vector<OwnSpeed> speeds =
      training_speeds({made_record(0, "a", "short", run_short_points({1}, settings, run)),
                       made_record(1, "a", "short", run_short_points({1, 8}, settings, run))});
  ASSERT_EQ(speeds.size(), 3U);
  EXPECT_EQ(speeds[0].devices, 1);
  EXPECT_EQ(speeds[2].devices, 8);
  EXPECT_NEAR(speeds[2].images_per_s, 640.0, 1e-9);
  std::vector<std::string> names;
  for (const Figure& figure : main_figures(run_short_points({1, 8}, settings, run))) names.push_back(figure.name);
  EXPECT_THAT(names, Contains("points(ranks=8) images_per_s"));
}

TEST(Short, iterations_follow_the_formula) {
  EXPECT_EQ(iterations_of(2, 1000, 16, 4), 31);
  EXPECT_EQ(iterations_text(1, 800, 16, 2),
            "iterations = epochs * images / (batch * devices) = 1 * 800 / (16 * 2) = 25");
  EXPECT_EQ(iterations_text(1, std::nullopt, 16, 2), "iterations = epochs * images / (batch * devices)");
}

TEST(Short, usual_counts_fit_the_machine) {
  EXPECT_THAT(usual_counts(1), ElementsAre(1));
  EXPECT_THAT(usual_counts(2), ElementsAre(1, 2));
  EXPECT_THAT(usual_counts(4), ElementsAre(1, 4));
  EXPECT_THAT(usual_counts(6), ElementsAre(1, 4, 6));
  EXPECT_THAT(usual_counts(16), ElementsAre(1, 4, 8));
}

/// Runs the case with texts for options; whole numbers for the others.
Value run_case(const std::vector<std::pair<std::string, std::string>>& texts,
               const std::vector<std::pair<std::string, std::int64_t>>& numbers) {
  const std::unique_ptr<Case> asked = make_short_case();
  for (const Option& option : asked->options()) {
    for (const auto& [name, value] : texts) {
      if (option.name == name) *std::get<std::string*>(option.target) = value;
    }
    for (const auto& [name, value] : numbers) {
      if (option.name == name) *std::get<std::int64_t*>(option.target) = value;
    }
  }
  return asked->run({.graph_of_file = [](const NetworkOptions&) { return std::nullopt; }});
}

TEST(Short, case_measures_one_device_in_its_own_process) {
  const Value result = run_case({{"--model", "resnet18"}, {"--batch", "2"}, {"--device", "cpu"}},
                                {{"--image", 32}, {"--warmup", 1}, {"--steps", 4}, {"--threads", 1}});
  EXPECT_EQ(result.at("case").as_string(), "short");
  EXPECT_EQ(result.at("ranks").as_integer(), 1);
  EXPECT_EQ(result.at("samples").at("step_s").as_array().size(), 4U);
  EXPECT_GT(result.at("min").as_double(), 0.0);
  EXPECT_LE(result.at("min").as_double(), result.at("images_per_s").as_double());
  EXPECT_GE(result.at("max").as_double(), result.at("images_per_s").as_double());
  EXPECT_EQ(result.at("dtype").as_string(), "f32");
  EXPECT_EQ(calibration_in(result.at("calibration")).steps, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Short, emulated_device_has_its_speed) {
  const Value result = run_case({{"--model", "resnet18"}, {"--batch", "2"}, {"--device", "emulated:20"}},
                                {{"--image", 32}, {"--warmup", 1}, {"--steps", 3}, {"--threads", 1}});
  EXPECT_EQ(result.at("kind").as_string(), "emulated");
  EXPECT_LE(result.at("images_per_s").as_double(), 20.0) << "it sleeps at least so long";
  EXPECT_TRUE(result.at("calibration").is_null()) << "its speed is not that of the machine";
}

TEST(Short, epochs_need_data) {
  EXPECT_THROW(static_cast<void>(run_case({{"--device", "cpu"}}, {{"--epochs", 1}})), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
