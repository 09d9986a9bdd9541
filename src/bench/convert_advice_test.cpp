// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/convert_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// An epoch takes 10 s from files and 4 s from records. Converting takes 90 s.
constexpr FormatCost kCost{.convert_s = 90.0, .files_pass_s = 10.0, .gain = {.estimate = 2.5, .low = 2.0, .high = 4.0}};

TEST(PlannedTime, counts_every_training_and_every_conversion) {
  const PlannedTime time = planned_time(kCost, {.trainings = 4, .changes = 2, .epochs = 5});
  EXPECT_DOUBLE_EQ(time.files_s, 4 * 5 * 10.0);
  EXPECT_DOUBLE_EQ(time.records_s.estimate, 3 * 90.0 + 4 * 5 * 4.0);
  EXPECT_DOUBLE_EQ(time.records_s.low, 3 * 90.0 + 4 * 5 * 2.5);
  EXPECT_DOUBLE_EQ(time.records_s.high, 3 * 90.0 + 4 * 5 * 5.0);
  // An epoch saves 7.5 to 5 s. So three conversions of 90 s are saved after 36 to 54 epochs, in the 8th to 11th
  // training.
  EXPECT_DOUBLE_EQ(time.epochs.low, 36.0);
  EXPECT_DOUBLE_EQ(time.epochs.high, 54.0);
  EXPECT_DOUBLE_EQ(time.trainings.low, 8.0);
  EXPECT_DOUBLE_EQ(time.trainings.high, 11.0);
}

TEST(PlannedTime, at_the_least_number_of_trainings_is_the_first_that_is_shorter) {
  for (const std::int64_t changes : {0, 1, 7}) {
    PlannedUse use{.changes = changes, .epochs = 3};
    const double least = planned_time(kCost, use).trainings.high;
    use.trainings = static_cast<std::int64_t>(least);
    EXPECT_LT(planned_time(kCost, use).records_s.high, planned_time(kCost, use).files_s);
    use.trainings -= 1;
    EXPECT_GE(planned_time(kCost, use).records_s.high, planned_time(kCost, use).files_s);
  }
}

TEST(PlannedTime, of_a_format_that_may_be_slower_has_no_upper_bound) {
  FormatCost cost = kCost;
  cost.gain.low = 0.9;
  const PlannedTime time = planned_time(cost, {.trainings = 1000});
  EXPECT_TRUE(std::isinf(time.epochs.high));
  EXPECT_TRUE(std::isinf(time.trainings.high));
  EXPECT_DOUBLE_EQ(time.epochs.low, 12.0);
}

TEST(GainOf, pairs_the_rounds_so_that_drift_of_the_machine_cancels) {
  // The machine slows down by a factor of 4; the format is 1.1, 1.2 and 1.1 times as fast in each round.
  const std::array<double, 3> files{400.0, 200.0, 100.0}, records{440.0, 240.0, 110.0};
  const Interval gain = gain_of(files, records, 0.95);
  EXPECT_NEAR(gain.estimate, std::cbrt(1.1 * 1.2 * 1.1), 1e-12);
  // Student's t of 2 degrees of freedom at 97.5% is 4.3027; the logarithms have a standard deviation of
  // ln(1.2/1.1)/sqrt 3.
  const double half = 4.3027 * std::log(1.2 / 1.1) / 3.0;
  EXPECT_NEAR(gain.low, gain.estimate * std::exp(-half), 1e-4);
  EXPECT_NEAR(gain.high, gain.estimate * std::exp(half), 1e-4);
  EXPECT_LT(gain.low, 1.0);
}

TEST(GainOf, one_round_is_not_bounded) {
  const std::array<double, 1> files{100.0}, records{300.0};
  const Interval gain = gain_of(files, records, 0.95);
  EXPECT_DOUBLE_EQ(gain.estimate, 3.0);
  EXPECT_EQ(gain.low, 0.0);
  EXPECT_TRUE(std::isinf(gain.high));
}

/// Row of a format that is `gain` times as fast as files of 10 images/s, in rounds that vary by `spread`.
Value row(const char* form, const char* size, std::pair<double, double> gains, double convert_s,
          double spread = 0.001) {
  const auto rounds = [&](double gain) {
    return Value::Array{10.0 * gain * (1.0 - spread), 10.0 * gain, 10.0 * gain * (1.0 + spread)};
  };
  return Value(Value::Table{{"form", form},
                            {"size", size},
                            {"convert_s", convert_s},
                            {"same_batches", std::string_view(form) != "tar jpeg"},
                            {"samples", Value::Table{{"warm_images_per_s", rounds(gains.first)},
                                                     {"cold_images_per_s", rounds(gains.second)}}}});
}

/// Rows of 100 images: an epoch from files takes 10 s.
Value rows_of(std::vector<Value> formats) {
  Value rows = Value::array();
  rows.push_back(row("files", "original", {1.0, 1.0}, 0.0, 0.0));
  for (Value& format : formats) rows.push_back(std::move(format));
  return rows;
}

Value first_advice(const Value& rows, const PlannedUse& use) { return convert_advice(100, rows, use).as_array().at(0); }

TEST(ConvertAdvice, names_the_format_that_takes_the_least_time) {
  const Value rows =
      rows_of({row("tfrecord keep", "original", {1.1, 1.6}, 20.0), row("tar keep", "original", {0.9, 1.2}, 10.0),
               row("tar jpeg", "original", {90.0, 90.0}, 1.0),  // left out, because its pixels differ
               row("tfrecord raw", "256 px", {10.0, 16.0}, 500.0)});
  const Value advice = convert_advice(100, rows, {.trainings = 50, .epochs = 10});
  ASSERT_EQ(advice.as_array().size(), 4U);
  EXPECT_EQ(advice.as_array()[0].at("form").as_string(), "tfrecord keep");
  EXPECT_EQ(advice.as_array()[1].at("size").as_string(), "256 px");
  EXPECT_EQ(advice.as_array()[1].at("verdict").as_string(), "convert");
  EXPECT_NEAR(advice.as_array()[1].at("gain").as_double(), 10.0, 1e-4);
  // 500 s of converting, and 9 s saved by an epoch.
  EXPECT_EQ(advice.as_array()[1].at("trainings").as_array()[0].as_double(), 6.0);
  EXPECT_EQ(advice.as_array()[1].at("trainings").as_array()[1].as_double(), 6.0);
  EXPECT_NEAR(advice.as_array()[1].at("epochs").as_array()[0].as_double(), 55.55, 0.1);
  EXPECT_THAT(
      advice.as_array()[1].at("text").as_string(),
      testing::MatchesRegex("convert to tfrecord raw, which reads 10 times as fast as the files \\(interval 9.9.? to "
                            "10(.0.?)?\\); input takes .* instead of 83.3 min for 50 trainings of 10 epochs, "
                            "with 1 conversion; converting pays from 6 trainings on, after 55.* epochs"));
}

TEST(ConvertAdvice, keeps_the_files_for_few_epochs) {
  const Value rows = rows_of({row("tfrecord keep", "original", {1.5, 1.5}, 21.0, 0.0)});
  EXPECT_EQ(
      first_advice(rows, {.trainings = 1, .epochs = 3}).at("text").as_string(),
      "keep the files: tfrecord keep reads 1.5 times as fast as the files (interval 1.5 to 1.5); input takes 41 s "
      "instead of 30 s for 1 training of 3 epochs, with 1 conversion; converting pays from 3 trainings on, after 6.3 "
      "epochs");
  EXPECT_EQ(first_advice(rows, {.trainings = 1, .epochs = 9}).at("verdict").as_string(), "convert");
  EXPECT_EQ(first_advice(rows, {.trainings = 1, .changes = 1, .epochs = 9}).at("verdict").as_string(), "keep files");
}

TEST(ConvertAdvice, is_uncertain_where_the_interval_holds_both_answers) {
  // The interval of the gain is 1.5 * exp(-+ 4.30 * 0.05 / sqrt 3) = 1.32 to 1.7. So 20 s of converting are saved
  // after 4.9 to 8.2 epochs.
  const Value rows = rows_of({row("tfrecord keep", "original", {1.5, 1.5}, 20.0, 0.05)});
  const Value advice = first_advice(rows, {.trainings = 2, .epochs = 3});
  EXPECT_EQ(advice.at("verdict").as_string(), "uncertain");
  EXPECT_EQ(advice.at("trainings").as_array()[0].as_double(), 2.0);
  EXPECT_EQ(advice.at("trainings").as_array()[1].as_double(), 3.0);
  EXPECT_THAT(advice.at("text").as_string(), HasSubstr("converting pays from 2 to 3 trainings on, after 4.8"));
}

TEST(ConvertAdvice, shows_no_gain_that_the_spread_of_the_rounds_explains) {
  const Value rows = rows_of({row("tfrecord keep", "original", {1.02, 0.7}, 20.0, 0.05)});
  const Value advice = convert_advice(100, rows, {.trainings = 1000});
  EXPECT_EQ(advice.as_array()[0].at("verdict").as_string(), "no gain shown");
  EXPECT_TRUE(advice.as_array()[0].at("trainings").is_null());
  EXPECT_THAT(advice.as_array()[0].at("text").as_string(), StartsWith("no gain shown: tfrecord keep reads 1.02 times"));
  EXPECT_EQ(advice.as_array()[1].at("verdict").as_string(), "keep files");
  EXPECT_THAT(advice.as_array()[1].at("text").as_string(), StartsWith("keep the files: tfrecord keep reads 0.69"));
}

TEST(ConvertAdvice, prefers_a_gain_that_is_shown) {
  const Value rows = rows_of(
      {row("tfrecord keep", "original", {1.4, 1.4}, 1.0, 0.3), row("tar keep", "original", {1.3, 1.3}, 1.0, 0.01)});
  EXPECT_EQ(first_advice(rows, {}).at("form").as_string(), "tar keep");
}

TEST(AddGains, widens_the_interval_with_the_number_of_formats) {
  const auto high_of = [](Value rows) {
    add_gains(100, rows);
    return rows.as_array()[1].at("intervals").at("warm").as_array()[1].as_double();
  };
  const Value one = row("tfrecord keep", "original", {1.5, 1.5}, 20.0, 0.01);
  EXPECT_LT(high_of(rows_of({one})), high_of(rows_of({one, one, one, one})));
  EXPECT_DOUBLE_EQ(high_of(rows_of({one})), high_of(rows_of({one, row("tar raw", "256 px", {9.0, 9.0}, 1.0)})))
      << "only formats of one size are compared";
  EXPECT_DOUBLE_EQ(high_of(rows_of({one})), high_of(rows_of({one, row("tar jpeg", "original", {9.0, 9.0}, 1.0)})))
      << "changed pixels are not compared";
}

TEST(AddGains, gives_the_epochs_of_one_conversion) {
  Value rows = rows_of({row("tfrecord keep", "original", {2.0, 0.5}, 20.0, 0.01)});
  add_gains(100, rows);
  const Value& added = rows.as_array()[1];
  EXPECT_NEAR(added.at("warm_of_files").as_double(), 2.0, 1e-3);
  const Value::Array& epochs = added.at("warm_break_even_epochs").as_array();
  EXPECT_LT(epochs[0].as_double(), 4.0);
  EXPECT_GT(epochs[1].as_double(), 4.0);
  EXPECT_TRUE(added.at("cold_break_even_epochs").as_array()[0].is_null()) << "it never pays";
}

}  // namespace
}  // namespace roentgen::bench
