// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/harness.h"

#include <gtest/gtest.h>

#include <array>

#include "bench/step_progress.h"
#include "core/error.h"
#include "runtime/cores.h"
#include "train/observer.h"

namespace roentgen::bench {
namespace {

TEST(Summary, median_is_the_middle_or_the_mean_of_the_two) {
  EXPECT_EQ(summarise(std::array{3.0, 1.0, 2.0}).median, 2.0);
  EXPECT_EQ(summarise(std::array{4.0, 1.0, 2.0, 3.0}).median, 2.5);
  EXPECT_EQ(summarise(std::array{7.0}).median, 7.0);
}

TEST(Summary, p95_is_the_nearest_rank) {
  std::vector<double> times;
  for (int i = 20; i >= 1; --i) times.push_back(i);
  EXPECT_EQ(summarise(times).p95, 19.0) << "19 of 20 values are at most 19";
  times.push_back(21.0);
  EXPECT_EQ(summarise(times).p95, 20.0) << "95% of 21 is 19.95: the 20th";
  EXPECT_EQ(summarise(std::array{1.0, 2.0}).p95, 2.0);
}

TEST(Summary, has_the_extremes_and_is_in_milliseconds) {
  const Value table = summary_ms(std::array{0.004, 0.001, 0.002});
  EXPECT_DOUBLE_EQ(table.at("min").as_double(), 1.0);
  EXPECT_DOUBLE_EQ(table.at("median").as_double(), 2.0);
  EXPECT_DOUBLE_EQ(table.at("max").as_double(), 4.0);
}

TEST(Measure, runs_warm_up_and_repeats_and_counts_only_the_repeats) {
  int calls = 0;
  const CaseWork work{.run = [&] { return ++calls <= 2 ? 100.0 : 0.5; },
                      .check = [] { return std::string("abc"); },
                      .amount = 10.0,
                      .unit = "pixels",
                      .facts = Value::Table{{"width_px", 5}}};
  const Value result = measure("x.y", {.warmup = 2, .repeats = 4}, work);
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(result.at("case").as_string(), "x.y");
  EXPECT_EQ(result.at("width_px").as_integer(), 5);
  EXPECT_EQ(result.at("warmup").as_integer(), 2);
  EXPECT_EQ(result.at("n").as_integer(), 4);
  EXPECT_DOUBLE_EQ(result.at("ms").at("max").as_double(), 500.0);
  EXPECT_DOUBLE_EQ(result.at("pixels_per_s").as_double(), 20.0);
  EXPECT_EQ(result.at("checksum").as_string(), "abc");
  EXPECT_FALSE(result.at("program").at("commit").as_string().empty());
}

TEST(Measure, takes_the_whole_time_when_the_work_does_not_say) {
  const CaseWork work{.run = [] { return -1.0; }, .check = [] { return std::string(); }};
  EXPECT_GE(measure("x", {.warmup = 0, .repeats = 1}, work).at("ms").at("min").as_double(), 0.0);
}

TEST(Measure, a_wrong_answer_gives_no_result) {
  const CaseWork work{.run = [] { return 1.0; }, .check = []() -> std::string { throw DataError("wrong"); }};
  EXPECT_THROW(static_cast<void>(measure("x", {.warmup = 0, .repeats = 1}, work)), DataError);
}

TEST(Measure, refuses_no_repeats_and_a_negative_warm_up) {
  const CaseWork work{.run = [] { return 1.0; }, .check = [] { return std::string(); }};
  EXPECT_THROW(static_cast<void>(measure("x", {.repeats = 0}, work)), ConfigError);
  EXPECT_THROW(static_cast<void>(measure("x", {.warmup = -1}, work)), ConfigError);
}

TEST(RepeatProgress, tells_the_time_left) {
  EXPECT_EQ(repeat_text(3, 12, 30.0), "measurement 3 of 12, left " + train::duration_text(90.0));
}

TEST(Threads, are_the_default_or_what_is_asked_for) {
  EXPECT_EQ(threads_of(1, false), 1);
  EXPECT_EQ(threads_of(0, true), runtime::default_compute_threads());
}

TEST(Threads, beyond_the_machine_need_consent) {
  const int most = runtime::available_hardware_threads();
  EXPECT_EQ(threads_of(most, false), most);
  try {
    static_cast<void>(threads_of(most + 1, false));
    FAIL() << "oversubscribed without being told";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string_view(error.what()).find("--oversubscribe"), std::string_view::npos) << error.what();
  }
  EXPECT_EQ(threads_of(most + 1, true), most + 1);
  EXPECT_THROW(static_cast<void>(threads_of(std::int64_t{1} << 40, true)), ConfigError);
  EXPECT_THROW(static_cast<void>(threads_of(-1, true)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
