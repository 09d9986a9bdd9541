// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/conv_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/plan/executable.h"
#include "graph/loss.h"
#include "models/model.h"

namespace roentgen::engine::cpu {
namespace {

// Returns a given time for each run of a candidate, in order, and repeats the last one. Counts the runs.
class Runs {
 public:
  explicit Runs(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
  double operator()() { return seconds_.at(std::min(count_++, seconds_.size() - 1)); }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<double> seconds_;
  std::size_t count_ = 0;
};

TEST(LeastSeconds, leaves_out_the_first_run_and_takes_the_best_of_the_others) {
  Runs one({0.1, 3.0, 2.0, 4.0, 5.0}), other({9.0, 8.0, 8.0, 7.0, 7.5});
  EXPECT_EQ(least_seconds({std::ref(one), std::ref(other)}), (std::vector<double>{2.0, 7.0}));
  EXPECT_EQ(one.count(), 5U);
  EXPECT_EQ(other.count(), 5U);
}

// Seen on a busy machine: each of the first runs took 400 times too long.
TEST(LeastSeconds, runs_all_again_where_one_stood_still) {
  Runs one({1.0}), other({400.0, 400.0, 400.0, 400.0, 400.0, 1.5});
  EXPECT_EQ(least_seconds({std::ref(one), std::ref(other)}), (std::vector<double>{1.0, 1.5}));
  EXPECT_EQ(one.count(), 9U);
}

TEST(LeastSeconds, gives_up_on_what_stays_behind) {
  Runs one({1.0}), other({400.0});
  EXPECT_EQ(least_seconds({std::ref(one), std::ref(other)}), (std::vector<double>{1.0, 400.0}));
  EXPECT_EQ(one.count(), 13U);
}

graph::Graph resnet18() {
  return graph::with_loss(
      models::build_model({.name = "resnet18", .labels = 3, .channels = 1, .image_px = 32, .batch = 1}), {});
}

// Checks that every choice of the plan appears once, and that its algorithm is among the timed ones. Equal layers must
// have equal times.
TEST(MeasuredChoices, are_those_of_the_plan) {
  for (const char* dtype : {"f32", "bf16"}) {
    const CompileOptions options{.threads = 1, .slots = 1, .dtype = parse_dtype(dtype)};
    const Plan plan = make_plan(resnet18(), options);
    const std::vector<MeasuredChoice> measured = measure_choices(resnet18(), options);
    std::map<std::string, std::string> chosen;
    std::map<std::string, std::map<std::string, double>> layers;
    for (const MeasuredChoice& choice : measured) {
      EXPECT_TRUE(chosen.emplace(choice.name, choice.chosen).second) << choice.name;
      EXPECT_TRUE(choice.seconds.contains(choice.chosen)) << choice.name << " " << choice.chosen;
      for (const auto& [name, seconds] : choice.seconds) EXPECT_GT(seconds, 0.0) << choice.name << " " << name;
      EXPECT_EQ(layers.emplace(choice.layer, choice.seconds).first->second, choice.seconds) << choice.layer;
    }
    std::map<std::string, std::string> expected = plan.choices;
    expected.erase(std::string(kDtypeChoice));
    EXPECT_EQ(chosen, expected) << dtype;
    EXPECT_LT(layers.size(), measured.size()) << "some layers of a ResNet are alike";
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
