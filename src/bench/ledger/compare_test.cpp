// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/calibration.h"
#include "bench/disturbance.h"
#include "bench/harness.h"
#include "bench/ledger/figures.h"
#include "bench/ledger/published.h"
#include "bench/ledger/record_testing.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

using Records = std::vector<StoredRecord>;
using Names = std::vector<std::string>;

StoredRecord step_record(double images_per_s, Value::Table more = {}) {
  return made_record(0, "aaaa", "step", step_result(images_per_s, std::move(more)));
}

Records step_records(const std::vector<double>& speeds) {
  Records records;
  for (const double speed : speeds) records.push_back(step_record(speed));
  return records;
}

Names figure_names(const Value& result) {
  Names names;
  for (const Figure& figure : main_figures(result)) names.push_back(figure.name);
  return names;
}

TEST(RecordSettings, leave_out_figures_that_are_whole_numbers) {
  const Value result = Value::Table{{"model", "resnet18"}, {"images_per_s", 3}, {"auroc", 1}};
  EXPECT_EQ(settings_text(record_settings(result)), "model=resnet18");
  EXPECT_EQ(main_figures(result).size(), 2U);
}

TEST(MainFigures, prefer_rates_to_the_times_that_say_the_same) {
  EXPECT_THAT(figure_names(step_result(10.0)), ElementsAre("images_per_s"));
  EXPECT_THAT(figure_names(Value::Table{{"step_ms", Value::Table{{"median", 2.0}}}}), ElementsAre("step_ms"));
}

TEST(RecordSettings, of_autobatch_have_the_budget_but_not_the_batch_that_was_found) {
  const Value result = Value::Table{
      {"case", "autobatch"}, {"model", "resnet18"}, {"budget_bytes", 500}, {"process_bytes", 7}, {"largest_batch", 4}};
  EXPECT_EQ(settings_text(record_settings(result)), "budget_bytes=500, model=resnet18");
}

TEST(MainFigures, of_rows_are_named_by_the_settings_of_the_row) {
  Value rows = Value::array();
  rows.push_back(Value::Table{{"ranks", 1}, {"images_per_s", 10.0}, {"efficiency", 1.0}});
  rows.push_back(Value::Table{{"ranks", 2}, {"images_per_s", 18.0}, {"efficiency", 0.9}});
  const Value result = Value::Table{{"points", rows}, {"energy", Value::Table{{"images_per_joule", 0.5}}}};
  EXPECT_THAT(figure_names(result),
              ElementsAre("points(ranks=1) images_per_s", "points(ranks=1) efficiency", "points(ranks=2) images_per_s",
                          "points(ranks=2) efficiency", "energy images_per_joule"));
}

TEST(MainFigures, leave_out_settings_samples_and_the_machine) {
  const Value result = Value::Table{{"bandwidth_mb_per_s", 125.0},
                                    {"images_per_s", Value()},
                                    {"cpu", Value::Table{{"clock_per_s", 1.0}}},
                                    {"samples", Value::Table{{"step_s", samples_of(std::vector{1.0})}}}};
  EXPECT_THAT(figure_names(result), IsEmpty());
}

TEST(RecordSettings, leave_out_what_was_measured) {
  Value result = step_result(10.0, {{"checksum", "ab"}, {"peak_bytes", 7}, {"fuse", true}, {"loss_last", 0.5}});
  EXPECT_EQ(settings_text(record_settings(result)), "batch=4, fuse=true, model=resnet50");
}

TEST(Compare, of_several_runs_has_intervals_of_the_variation_between_runs) {
  const Value result = compare_records(step_records({10.0, 10.2, 9.9}), step_records({12.0, 12.1, 12.3}));
  const Value& row = result.at("figures").as_array().at(0);
  EXPECT_EQ(row.at("verdict").as_string(), "better");
  EXPECT_EQ(row.at("variation").as_string(), "between runs");
  EXPECT_NEAR(row.at("ratio").as_double(), 1.2093, 1e-4) << "ratio of geometric means";
  EXPECT_LT(row.at("low").as_double(), row.at("ratio").as_double());
  EXPECT_TRUE(result.at("same_host").as_bool());
}

TEST(Compare, of_single_runs_uses_their_samples_and_the_direction_of_rates) {
  const auto with_steps = [](double images_per_s, const std::vector<double>& steps) {
    return Records{step_record(images_per_s, {{"samples", Value::Table{{"step_s", samples_of(steps)}}}})};
  };
  const Value result = compare_records(with_steps(4.0, {1.0, 1.01, 0.99}), with_steps(2.0, {2.0, 2.02, 1.98}));
  const Value& row = result.at("figures").as_array().at(0);
  EXPECT_EQ(row.at("variation").as_string(), "within a run");
  EXPECT_EQ(row.at("verdict").as_string(), "worse");
  EXPECT_NEAR(row.at("ratio").as_double(), 0.5, 1e-9);
}

TEST(Compare, without_samples_knows_no_interval) {
  const Value result = compare_records(step_records({10.0}), step_records({11.0}));
  const Value& row = result.at("figures").as_array().at(0);
  EXPECT_EQ(row.at("verdict").as_string(), "unknown");
  EXPECT_TRUE(row.at("low").is_null());
  EXPECT_NEAR(row.at("ratio").as_double(), 1.1, 1e-9);
}

TEST(Compare, of_times_calls_less_better) {
  const auto times = [](double ms) {
    return made_record(0, "aaaa", "decode", Value::Table{{"ms", Value::Table{{"median", ms}}}});
  };
  const Value result = compare_records({times(5.0), times(5.1)}, {times(4.0), times(4.1)});
  EXPECT_EQ(result.at("figures").as_array().at(0).at("verdict").as_string(), "better");
}

TEST(Compare, refuses_other_settings_by_name) {
  const auto compare = [](Value::Table more) {
    return [more] { static_cast<void>(compare_records(step_records({1.0}), {step_record(1.0, more)})); };
  };
  EXPECT_THAT(compare({{"batch", 8}}),
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("equal settings: batch=4"), HasSubstr("got batch=8"))));
  EXPECT_THAT(compare({{"fuse", "off"}}), ThrowsMessage<ConfigError>(HasSubstr("no fuse, got fuse=off")));
  EXPECT_NO_THROW(compare({{"warmup", 9}})()) << "the number of steps changes only the precision";
  EXPECT_THAT(
      [] { static_cast<void>(compare_records(step_records({1.0}), {made_record(0, "a", "links", Value::table())})); },
      ThrowsMessage<ConfigError>(HasSubstr("the same benchmark case on both sides, such as step, got links")));
}

TEST(Compare, lists_groups_of_one_side) {
  const Value result = compare_records({step_record(1.0), step_record(1.0, {{"batch", 8}})}, step_records({1.0}));
  EXPECT_EQ(result.at("figures").as_array().size(), 1U);
  EXPECT_EQ(result.at("only_a").as_array().at(0).as_string(), "step (batch=8)");
  EXPECT_THAT(result.at("only_b").as_array(), IsEmpty());
}

/// Calibration with this time of computing, and 2 ms of copying.
Value calibration(double compute_s) {
  return to_value(Calibration{.steps = {0, 10}, .samples = {{compute_s, 2e-3}, {compute_s, 2e-3}}});
}

TEST(Compare, says_how_much_the_machine_itself_changed) {
  const auto record = [](double images_per_s, double compute_s) {
    return step_record(images_per_s, {{"calibration", calibration(compute_s)}});
  };
  const Value found = compare_records({record(100.0, 1e-3), record(100.0, 1e-3)},
                                      {record(88.0, 1e-3 / 0.88), record(88.0, 1e-3 / 0.88)});
  const Value& machine = found.at("figures").as_array().at(0).at("machine_speed");
  EXPECT_NEAR(machine.at("compute").as_double(), 0.88, 1e-9);
  EXPECT_NEAR(machine.at("copy").as_double(), 1.0, 1e-9);
  ASSERT_EQ(found.at("warnings").as_array().size(), 1U);
  EXPECT_EQ(found.at("warnings").as_array()[0].as_string(),
            "step images_per_s: the machine itself computed 12% slower in b");
  EXPECT_THAT(compare_records({record(100.0, 1e-3)}, {record(99.0, 1.01e-3)}).at("warnings").as_array(), IsEmpty())
      << "1% does not matter";
}

TEST(Compare, does_not_blame_the_machine_within_the_spread_of_its_samples) {
  const auto record = [](double images_per_s, std::vector<SpeedSample> samples) {
    return step_record(images_per_s, {{"calibration", to_value(Calibration{.steps = {0, 10}, .samples = samples})}});
  };
  const auto first_warning = [](const Records& a, const Records& b) {
    return compare_records(a, b).at("warnings").as_array().at(0).as_string();
  };
  const std::string unexplained = "step images_per_s: the speed of the machine itself does not explain the difference";
  EXPECT_EQ(
      first_warning({record(100.0, {{1e-3, 1e-3}, {1.3e-3, 1e-3}})}, {record(80.0, {{1.2e-3, 1e-3}, {1.4e-3, 1e-3}})}),
      unexplained)
      << "samples overlap";
  EXPECT_EQ(first_warning({record(100.0, {{1e-3, 1e-3}, {1e-3, 1e-3}})}, {record(120.0, {{2e-3, 1e-3}, {2e-3, 1e-3}})}),
            unexplained)
      << "a slower machine makes nothing faster";
}

TEST(Compare, of_times_is_longer_on_a_slower_machine) {
  const auto record = [](double ms, double compute_s) {
    return made_record(0, "aaaa", "step", Value::Table{{"step_ms", ms}, {"calibration", calibration(compute_s)}});
  };
  const Value found = compare_records({record(10.0, 1e-3)}, {record(8.0, 0.8e-3)});
  EXPECT_EQ(found.at("warnings").as_array().at(0).as_string(),
            "step step_ms: the machine itself computed 25% faster in b");
}

TEST(Compare, of_gpus_tells_their_clocks) {
  const auto record = [](double images_per_s, double mhz) {
    return step_record(images_per_s,
                       {{"calibration", Value()}, {"disturbance", to_value(Disturbance{.gpu_mhz = mhz})}});
  };
  const Value found = compare_records({record(100.0, 2000.0)}, {record(95.0, 1800.0)});
  EXPECT_NEAR(found.at("figures").as_array().at(0).at("machine_speed").at("gpu_clock").as_double(), 0.9, 1e-9);
  EXPECT_EQ(found.at("warnings").as_array().at(0).as_string(),
            "step images_per_s: the machine itself had a 10% lower GPU clock in b");
}

TEST(Compare, says_what_disturbed_single_records_that_differ) {
  const auto record = [](double images_per_s, double other_cores) {
    return step_record(images_per_s, {{"calibration", calibration(1e-3)},
                                      {"disturbance", to_value(Disturbance{.other_cores = other_cores})}});
  };
  const auto warnings = [](const Records& a, const Records& b) {
    const Value found = compare_records(a, b);
    std::vector<std::string> texts;
    for (const Value& text : found.at("warnings").as_array()) texts.push_back(text.as_string());
    return texts;
  };
  EXPECT_THAT(warnings({record(100.0, 0.0)}, {record(80.0, 0.9)}),
              ElementsAre("step images_per_s: the speed of the machine itself does not explain the difference",
                          "step images_per_s: in b, other processes used 0.9 cores"));
  EXPECT_THAT(warnings({record(100.0, 0.0)}, {record(99.0, 0.9)}), IsEmpty()) << "nothing to explain";
}

TEST(Compare, without_calibration_of_every_record_knows_nothing_of_the_machine) {
  const Records calibrated{step_record(1.0, {{"calibration", calibration(1e-3)}})};
  EXPECT_TRUE(
      compare_records(calibrated, step_records({1.0})).at("figures").as_array()[0].at("machine_speed").is_null());
  const Records mixed{calibrated.front(), step_record(1.0)};
  EXPECT_TRUE(compare_records(calibrated, mixed).at("figures").as_array()[0].at("machine_speed").is_null());
}

TEST(Published, speeds_have_sources_and_plausible_efficiencies) {
  for (const PublishedSpeed& each : published_speeds()) {
    EXPECT_FALSE(each.source.empty() || each.hardware.empty() || each.software.empty());
    EXPECT_GT(each.images_per_s, 0.0);
    // Published scaling can be slightly better than linear, because single runs vary.
    EXPECT_LE(published_efficiency(each), 1.02) << each.hardware << " " << each.devices;
  }
}

TEST(Published, stand_beside_the_fastest_own_speed_on_as_many_devices) {
  Value scaling = Value::Table{
      {"model", "densenet121"}, {"device", "cuda:0"}, {"image_px", 256}, {"batch", 64}, {"points", Value::array()}};
  scaling.as_table().back().second.push_back(Value::Table{{"ranks", 4}, {"images_per_s", 1178.72}});
  scaling.as_table().back().second.push_back(Value::Table{{"ranks", 8}, {"images_per_s", 9e9}, {"kind", "predicted"}});
  const Value::Table usual{{"image_px", 224}};
  const Value rows =
      beside_published({step_record(36.7, usual), step_record(30.0, usual), step_record(500.0, {{"image_px", 32}}),
                        step_record(600.0), made_record(0, "a", "scaling", scaling)});
  const auto row = [&rows](std::string_view model, std::int64_t devices, std::string_view hardware) {
    return *std::ranges::find_if(rows.as_array(), [&](const Value& each) {
      return each.at("model").as_string() == model && each.at("devices").as_integer() == devices &&
             each.at("hardware").as_string() == hardware;
    });
  };
  EXPECT_DOUBLE_EQ(row("resnet50", 1, "V100-16GB").at("ratio").as_double(), 0.1) << "not the small images";
  EXPECT_DOUBLE_EQ(row("densenet121", 4, "V100").at("ratio").as_double(), 2.0);
  EXPECT_EQ(row("densenet121", 4, "V100").at("our_hardware").as_string(), "cuda:0");
  EXPECT_EQ(row("densenet121", 4, "V100").at("our_conditions").as_string(), "256 px, batch 64");
  EXPECT_TRUE(row("densenet121", 8, "V100").at("ours").is_null());
}

TEST(Published, own_speeds_of_equal_settings_can_be_joined) {
  const auto settings = [](Value::Table more) {
    return training_speeds({step_record(10.0, std::move(more))}).at(0).settings;
  };
  EXPECT_EQ(settings({{"ranks", 1}, {"threads", 2}}), settings({{"ranks", 2}, {"threads", 1}}));
  EXPECT_NE(settings({{"dtype", "f32"}}), settings({{"dtype", "bf16"}}));
  EXPECT_THAT(training_speeds({step_record(10.0, {{"ranks", 2}, {"oversubscribed", true}})}), IsEmpty());
}

TEST(MainFigures, of_equal_rows_have_numbers_and_rounds_have_none) {
  const Value row = Value::Table{{"ms", 2.0}};
  const Value result = Value::Table{{"rows", Value::Array{row, row, row}}, {"by_round", Value::Array{row}}};
  EXPECT_THAT(figure_names(result), ElementsAre("rows() ms", "rows()#2 ms", "rows()#3 ms"));
}

TEST(Compare, rows_with_samples_have_an_interval_within_a_run) {
  const auto record = [](double step_s) {
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) times.push_back(step_s * (1.0 + 0.001 * (i / 10 % 2)));
    Value rows = Value::array();
    rows.push_back(Value::Table{{"ranks", 4},
                                {"images_per_s", 1.0 / step_s},
                                {"efficiency", 0.9},
                                {"samples", Value::Table{{"step_s", samples_of(times)}}}});
    return made_record(0, "a", "short", Value::Table{{"case", "short"}, {"points", rows}});
  };
  const Value found = compare_records({record(0.1)}, {record(0.11)});
  const Value::Array& figures = found.at("figures").as_array();
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].at("figure").as_string(), "points(ranks=4) images_per_s");
  EXPECT_EQ(figures[0].at("verdict").as_string(), "worse");
  EXPECT_EQ(figures[0].at("variation").as_string(), "within a run");
  EXPECT_EQ(figures[1].at("verdict").as_string(), "unknown") << "an efficiency also depends on another row";
}

}  // namespace
}  // namespace roentgen::bench
