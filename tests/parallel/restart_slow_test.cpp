// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests `train --restart` after every fault in every phase.
#include <gmock/gmock.h>

#include <cctype>
#include <tuple>

#include "tests/parallel/restarted.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

struct Place {
  const char* name;
  const char* step;
  bool is_of_first = false;  ///< whether the first rank fails
};

constexpr Place kPlaces[] = {{"input", "5"},     {"forward", "5"},          {"gradient bucket 0", "5"},
                             {"optimizer", "5"}, {"checkpoint", "5", true}, {"validation", "any"}};

class RestartMatrix : public Restarted, public testing::WithParamInterface<std::tuple<int, Fault, Place>> {};

TEST_P(RestartMatrix, finishes_the_training_with_the_bits_of_one_that_never_failed) {
  const auto& [ranks, fault, place] = GetParam();
  const Blow blow{.fault = fault,
                  .place = place.name,
                  .step = place.step,
                  .ranks = ranks,
                  .rank = place.is_of_first ? 0 : ranks - 1};
  const Outcome outcome = strike_each("run", blow, 1, 1);
  EXPECT_EQ(outcome.ended.code, 0) << outcome.ended.err;
  EXPECT_THAT(outcome.ended.err, HasSubstr("restart 1 of 1: " + std::to_string(ranks) + " ranks go on from update "));
  expect_same_bits("run", blow);
}

std::string name_of_case(const testing::TestParamInfo<RestartMatrix::ParamType>& info) {
  const auto& [ranks, fault, place] = info.param;
  std::string name = fmt::format("{}_in_{}_of_{}", name_of(fault), place.name, ranks);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RestartMatrix,
                         testing::Combine(testing::Values(2, 4), testing::Values(Fault::Kill, Fault::Stop),
                                          testing::ValuesIn(kPlaces)),
                         name_of_case);

TEST_F(Restarted, goes_on_without_a_host_that_is_cut_off) {
  if (!has_hosts()) GTEST_SKIP() << "no network namespaces can be made here: no link can be cut";
  const Blow blow{.fault = Fault::Cut, .place = "forward", .ranks = 4, .rank = 3};
  const Outcome outcome = strike_each("run", blow, 1, 1);
  EXPECT_EQ(outcome.ended.code, 0) << outcome.ended.err;
  EXPECT_THAT(outcome.ended.err, HasSubstr("restart: 10.99.0.2 does not answer, and is left out with 2 ranks"));
  EXPECT_THAT(outcome.ended.err, HasSubstr("restart 1 of 1: 2 ranks go on from update 5"));
  EXPECT_THAT(outcome.ended.err, HasSubstr("training on 2 ranks instead of 4: an update takes 8 images instead of 16"));
}

}  // namespace
}  // namespace roentgen::e2e
