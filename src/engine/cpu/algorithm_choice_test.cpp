// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/algorithm_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::engine::cpu {
namespace {

// Of direct's time; 0: no candidate.
struct Case {
  const char* name;
  double winograd, split, split2;
  ConvAlgorithm chosen;
  bool gathers = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AlgorithmChoice : public testing::TestWithParam<Case> {};

TEST_P(AlgorithmChoice, takes_the_fastest_that_is_worthwhile) {
  const Case& c = GetParam();
  std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Direct};
  Timings timings{{"direct", 2.0}};
  const auto add = [&](ConvAlgorithm algorithm, double of_direct) {
    if (of_direct == 0.0) return;
    candidates.push_back(algorithm);
    timings[std::string(name_of(algorithm))] = 2.0 * of_direct;
  };
  add(ConvAlgorithm::Winograd, c.winograd);
  add(ConvAlgorithm::Split, c.split);
  add(ConvAlgorithm::Split2, c.split2);
  const auto gathers = [&](ConvAlgorithm algorithm) { return c.gathers && algorithm == ConvAlgorithm::Split; };
  EXPECT_EQ(name_of(fastest_algorithm(candidates, timings, gathers)), name_of(c.chosen));
}

constexpr auto kDirect = ConvAlgorithm::Direct;
constexpr auto kWinograd = ConvAlgorithm::Winograd;
constexpr auto kSplit = ConvAlgorithm::Split;
constexpr auto kSplit2 = ConvAlgorithm::Split2;
INSTANTIATE_TEST_SUITE_P(
    Timings, AlgorithmChoice,
    testing::Values(Case{"alone", 0.0, 0.0, 0.0, kDirect}, Case{"split_by_too_little", 0.0, 0.99, 0.0, kDirect},
                    Case{"split", 0.0, 0.97, 0.0, kSplit}, Case{"winograd_by_too_little", 0.96, 0.0, 0.0, kDirect},
                    Case{"winograd", 0.94, 0.97, 0.0, kWinograd}, Case{"split2_by_too_little", 0.0, 0.0, 0.96, kDirect},
                    Case{"split2", 0.94, 0.0, 0.9, kSplit2}, Case{"slower_but_gathers", 0.0, 1.01, 0.0, kSplit, true},
                    Case{"too_slow_to_gather", 0.0, 1.03, 0.0, kDirect, true},
                    Case{"winograd_over_a_gatherer", 0.94, 1.01, 0.0, kWinograd, true},
                    Case{"gatherer_over_winograd", 0.94, 0.93, 0.0, kSplit, true},
                    Case{"gatherer_beside_winograd", 0.96, 1.01, 0.0, kSplit, true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AlgorithmChoice, of_bf16_values_holds_winograds_against_products_of_them) {
  const std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Bf16, ConvAlgorithm::WinogradBf16};
  const auto chosen = [&](double winograd_s) {
    return fastest_algorithm(candidates, {{"bf16", 1.0}, {"winograd_bf16", winograd_s}},
                             [](ConvAlgorithm algorithm) { return algorithm == ConvAlgorithm::Bf16; });
  };
  EXPECT_EQ(chosen(0.96), ConvAlgorithm::Bf16);
  EXPECT_EQ(chosen(0.94), ConvAlgorithm::WinogradBf16);
}

// It saves the batch norms around it more than it may lose.
TEST(AlgorithmChoice, pointwise_products_may_be_slower_than_direct_by_a_tenth) {
  const std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Direct, ConvAlgorithm::Pointwise};
  const auto chosen = [&](double pointwise_s) {
    return fastest_algorithm(candidates, {{"direct", 1.0}, {"pointwise", pointwise_s}},
                             [](ConvAlgorithm /*algorithm*/) { return false; });
  };
  EXPECT_EQ(chosen(1.09), ConvAlgorithm::Pointwise);
  EXPECT_EQ(chosen(1.11), ConvAlgorithm::Direct);
}

// Seconds of each run of a candidate in order, the last one for ever; counts the runs.
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

// As seen on a busy machine: 400 times too long in every one of the first runs.
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

}  // namespace
}  // namespace roentgen::engine::cpu
