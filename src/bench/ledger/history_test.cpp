// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/case_list.h"
#include "bench/ledger/record_testing.h"
#include "core/error.h"
#include "core/random.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::uint64_t kSeed = 20261127;
constexpr int kRounds = 24;

/// Machine whose speed drifts from run to run, as virtual machines do. The speed is a random walk with steps of 1%,
/// with noise of 1% in each run. In one of ten runs, other work costs 5 to 30%.
class DriftingMachine {
 public:
  /// @param other_work probability of other work in a run
  explicit DriftingMachine(std::uint64_t sample, double other_work = 0.1)
      : random_(kSeed, RandomStage::Test, sample), other_work_(other_work) {}
  /// Returns the factor by which the next run is slower than usual.
  double next() {
    drift_ += 0.01 * random_.normal();
    const double other_work = random_.chance(other_work_) ? random_.uniform(0.05, 0.3) : 0.0;
    return std::exp(drift_ + 0.01 * random_.normal() + other_work);
  }

 private:
  Random random_;
  double other_work_;
  double drift_ = 0.0;
};

/// Records of rounds in the order that bench_builds.sh measures them: old, new, new, old, ...
/// @param slowdown factor by which the new build is slower
std::vector<StoredRecord> rounds_on(DriftingMachine machine, double slowdown, int rounds = kRounds) {
  std::vector<StoredRecord> records;
  for (int round = 0; round < rounds; ++round) {
    for (const bool is_second : {false, true}) {
      const bool is_new = is_second == (round % 2 == 0);
      for (const int batch : {4, 8}) {  // two figures in each report
        const double speed = 100.0 / machine.next() / (is_new ? slowdown : 1.0);
        records.push_back(
            made_record(std::ssize(records), is_new ? "bbbb" : "aaaa", "step", step_result(speed, {{"batch", batch}})));
      }
    }
  }
  return records;
}

int reports_with_regressions(int pairs, double slowdown, std::uint64_t first) {
  int alarms = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto records = rounds_on(DriftingMachine(first + static_cast<std::uint64_t>(pair)), slowdown);
    alarms += history_of(records, {}).at("regressions").as_integer() > 0 ? 1 : 0;
  }
  return alarms;
}

TEST(History, gives_at_most_one_false_alarm_in_20_pairs_of_equal_builds) {
  SCOPED_TRACE(kSeed);
  EXPECT_LE(reports_with_regressions(20, 1.0, 0), 1);
}

TEST(History, false_alarms_are_as_rare_as_the_level_says) {
  SCOPED_TRACE(kSeed);
  // The level allows 1% of 400 reports, 4; the standard deviation of the count is 2, and the bound 3 of them away.
  EXPECT_LE(reports_with_regressions(400, 1.0, 1000), 10);
}

TEST(History, finds_a_planted_regression_of_5_percent) {
  SCOPED_TRACE(kSeed);
  // The power of 24 rounds on this machine is 94%, simulated with another program; the bound is 2.5 standard deviations
  // (2.4%) below.
  EXPECT_GE(reports_with_regressions(100, 1.05, 5000), 88);
}

TEST(History, needs_12_rounds_on_a_quiet_machine) {
  SCOPED_TRACE(kSeed);
  int found = 0;
  for (std::uint64_t sample = 9000; sample < 9100; ++sample) {
    found +=
        history_of(rounds_on(DriftingMachine(sample, 0.0), 1.05, 12), {}).at("regressions").as_integer() > 0 ? 1 : 0;
  }
  EXPECT_GE(found, 95);
}

TEST(History, reports_the_ratio_of_a_planted_regression) {
  const Value report = history_of(rounds_on(DriftingMachine(7), 1.05, 40), {});
  for (const Value& row : report.at("speed").as_array()) {
    EXPECT_LT(row.at("low").as_double(), 1.0 / 1.05);
    EXPECT_GT(row.at("high").as_double(), 1.0 / 1.05);
    EXPECT_EQ(row.at("rounds").as_integer(), 40);
  }
}

// Without pairing, the drift between the measurements of two builds would be taken for a difference.
TEST(History, of_builds_that_were_not_measured_in_turn_has_too_few_rounds) {
  std::vector<StoredRecord> records;
  for (int i = 0; i < 20; ++i)
    records.push_back(made_record(i, i < 10 ? "aaaa" : "bbbb", "step", step_result(20.0 - i)));
  const Value report = history_of(records, {});
  EXPECT_EQ(report.at("speed").as_array().at(0).at("rounds").as_integer(), 1);
  EXPECT_EQ(report.at("speed").as_array().at(0).at("verdict").as_string(), "too few rounds");
  EXPECT_EQ(report.at("regressions").as_integer(), 0);
  EXPECT_EQ(report.at("verdict").as_string(), "too few rounds");
  EXPECT_TRUE(make_history_case()->has_failed(report)) << "a script would take success for no regression";
  EXPECT_THAT(report.at("warnings").as_array().at(0).as_string(), HasSubstr("1 of 1 figures have fewer than 7 rounds"));
}

TEST(History, takes_the_last_two_builds_unless_it_is_told_which) {
  std::vector<StoredRecord> records;
  for (const char* const commit : {"a1", "b1", "b2", "a1"}) {
    records.push_back(made_record(std::ssize(records), commit, "step", step_result(1.0)));
  }
  const Value report = history_of(records, {});
  EXPECT_EQ(report.at("from").as_string(), "b1");
  EXPECT_EQ(report.at("to").as_string(), "b2") << "the old build a1 was measured last, but not first";
  EXPECT_EQ(history_of(records, {.from = "b2", .to = {}}).at("to").as_string(), "b1");
  EXPECT_EQ(history_of(records, {.from = "a", .to = "b1"}).at("from").as_string(), "a1");
  EXPECT_THAT([&] { static_cast<void>(history_of(records, {.from = "b"})); },
              ThrowsMessage<ConfigError>(HasSubstr("more digits")));
  EXPECT_THAT(
      [&] { static_cast<void>(history_of(records, {.to = "c"})); },
      ThrowsMessage<ConfigError>(HasSubstr("--to: expected the first digits of one of the commits a1, b1, b2, got c")));
  EXPECT_THAT([&] { static_cast<void>(history_of({records[0]}, {})); },
              ThrowsMessage<ConfigError>(HasSubstr("only build a1")));
}

TEST(History, does_not_pair_records_of_different_hosts) {
  std::vector<StoredRecord> records = rounds_on(DriftingMachine(1), 1.0);
  for (StoredRecord& record : records) {
    if (record.value.at("commit").as_string() == "bbbb") record.value.set("host", "ffffffffffff");
  }
  EXPECT_THAT([&] { static_cast<void>(history_of(records, {})); },
              ThrowsMessage<ConfigError>(HasSubstr("rounds of both builds with equal settings")));
}

std::vector<StoredRecord> accuracies(const std::vector<double>& from, const std::vector<double>& to) {
  std::vector<StoredRecord> records;
  const auto add = [&records](const std::string& commit, const std::vector<double>& values) {
    for (std::size_t seed = 0; seed < values.size(); ++seed) {
      records.push_back(made_record(std::ssize(records), commit, std::string(kAccuracyCase),
                                    Value::Table{{"data", "synthetic"}, {"seed", seed}, {"auroc", values[seed]}}));
    }
  };
  add("aaaa", from);
  add("bbbb", to);
  return records;
}

TEST(History, pairs_accuracies_by_seed) {
  // Seeds differ by 0.05, builds by 0.01 with a standard deviation of 0.001.
  const Value report = history_of(accuracies({0.90, 0.85, 0.88}, {0.889, 0.840, 0.871}), {});
  const Value& row = report.at("accuracy").as_array().at(0);
  EXPECT_EQ(row.at("verdict").as_string(), "regression");
  EXPECT_NEAR(row.at("difference").as_double(), -0.01, 1e-9);
  EXPECT_EQ(row.at("seeds").as_integer(), 3);
  EXPECT_EQ(report.at("regressions").as_integer(), 1);
  EXPECT_THAT(report.at("speed").as_array(), IsEmpty());
}

TEST(History, finds_no_difference_between_equal_accuracies) {
  const std::vector<double> same{0.90, 0.85, 0.88};
  EXPECT_EQ(history_of(accuracies(same, same), {}).at("regressions").as_integer(), 0);
  EXPECT_EQ(history_of(accuracies(same, {0.89, 0.86, 0.87}), {}).at("regressions").as_integer(), 0);
  const Value one = history_of(accuracies({0.9}, {0.5}), {});
  EXPECT_EQ(one.at("accuracy").as_array().at(0).at("verdict").as_string(), "too few seeds");
  EXPECT_EQ(one.at("verdict").as_string(), "too few seeds");
  EXPECT_THAT(one.at("warnings").as_array().at(0).as_string(), HasSubstr("1 of 1 accuracies"));
}

TEST(History, succeeds_only_with_enough_rounds_and_no_regression) {
  const auto has_failed = [](const Value& report) { return make_history_case()->has_failed(report); };
  const std::vector<double> same{0.90, 0.85, 0.88};
  const Value equal = history_of(accuracies(same, same), {});
  EXPECT_EQ(equal.at("verdict").as_string(), kNoRegression);
  EXPECT_FALSE(has_failed(equal));
  const Value worse = history_of(accuracies(same, {0.889, 0.840, 0.871}), {});
  EXPECT_EQ(worse.at("verdict").as_string(), "regression");
  EXPECT_TRUE(has_failed(worse));
}

}  // namespace
}  // namespace roentgen::bench
