// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/algorithm_choice.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
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

}  // namespace
}  // namespace roentgen::engine::cpu
