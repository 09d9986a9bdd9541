// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "graph/graph_testing.h"

namespace roentgen::graph {
namespace {
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSeed = 7;

struct Moments {
  double mean = 0.0;
  double sd = 0.0;
};

Moments moments_of(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) sum += value;
  const auto count = static_cast<double>(values.size());
  double squares = 0.0;
  for (const float value : values) squares += (value - sum / count) * (value - sum / count);
  return {sum / count, std::sqrt(squares / count)};
}

/// Expects mean and standard deviation of the draws within five of their standard errors. Seeds are fixed, so this
/// fails only when the distribution is wrong.
void expect_moments(const std::vector<float>& values, double sd) {
  const double error = 5.0 * sd / std::sqrt(static_cast<double>(values.size()));
  EXPECT_NEAR(moments_of(values).mean, 0.0, error) << "seed " << kSeed;
  EXPECT_NEAR(moments_of(values).sd, sd, error) << "seed " << kSeed;
}

Parameter weight_of(Init init) { return {"conv.weight", {64, 16, 3, 5}, Role::Weight, init}; }
}  // namespace

TEST(InitialValues, constant_is_constant) {
  EXPECT_THAT(initial_values(weight_of({Init::Kind::Constant, 1.5}), kSeed), Each(1.5F));
}

TEST(InitialValues, he_fan_out_has_its_spread) {
  expect_moments(initial_values(weight_of({Init::Kind::NormalFanOut}), kSeed), std::sqrt(2.0 / (64 * 3 * 5)));
}

TEST(InitialValues, he_fan_in_has_its_spread) {
  expect_moments(initial_values(weight_of({Init::Kind::NormalFanIn}), kSeed), std::sqrt(2.0 / (16 * 3 * 5)));
}

TEST(InitialValues, normal_has_its_spread) {
  expect_moments(initial_values(weight_of({Init::Kind::Normal, 0.01}), kSeed), 0.01);
}

TEST(InitialValues, normal_is_normal) {
  // Shares of |x| below 1, 2 and 3 sd: 0.6827, 0.9545, 0.9973. Tolerance: at most five binomial standard errors.
  const auto values = initial_values(weight_of({Init::Kind::Normal, 1.0}), kSeed);
  const auto share_below = [&](float limit) {
    const auto count = std::ranges::count_if(values, [&](float value) { return std::fabs(value) < limit; });
    return static_cast<double>(count) / static_cast<double>(values.size());
  };
  EXPECT_NEAR(share_below(1.0F), 0.6827, 0.019);
  EXPECT_NEAR(share_below(2.0F), 0.9545, 0.009);
  EXPECT_NEAR(share_below(3.0F), 0.9973, 0.0021);
}

TEST(InitialValues, uniform_stays_in_its_bounds_and_has_its_spread) {
  const auto values = initial_values(weight_of({Init::Kind::UniformFanIn}), kSeed);
  const double bound = 1.0 / std::sqrt(16 * 3 * 5);
  EXPECT_LE(*std::ranges::max_element(values), static_cast<float>(bound));
  EXPECT_GE(*std::ranges::min_element(values), static_cast<float>(-bound));
  expect_moments(values, bound / std::sqrt(3.0));
}

TEST(InitialValues, linear_weight_fans_in_over_its_columns) {
  const Parameter weight{"fc.weight", {100, 50}, Role::Weight, {Init::Kind::UniformFanIn}};
  expect_moments(initial_values(weight, kSeed), 1.0 / std::sqrt(3.0 * 50));
}

TEST(InitialValues, bias_uses_the_fan_in_it_is_given) {
  const Parameter bias{"fc.bias", {5000}, Role::Bias, {Init::Kind::UniformFanIn, 0.0, 400}};
  expect_moments(initial_values(bias, kSeed), 1.0 / std::sqrt(3.0 * 400));
}

TEST(InitialValues, refuses_a_vector_without_fan) {
  const Parameter in{"fc.bias", {5}, Role::Bias, {Init::Kind::NormalFanIn}};
  const Parameter out{"fc.bias", {5}, Role::Bias, {Init::Kind::NormalFanOut}};
  EXPECT_THAT(error_of<ConfigError>([&] { static_cast<void>(initial_values(in, kSeed)); }), HasSubstr("fc.bias"));
  EXPECT_THAT(error_of<ConfigError>([&] { static_cast<void>(initial_values(out, kSeed)); }), HasSubstr("fan-out"));
}

TEST(InitialValues, depend_on_seed_and_name_only) {
  const Parameter parameter = weight_of({Init::Kind::Normal, 1.0});
  Parameter renamed = parameter;
  renamed.name = "conv2.weight";
  Parameter longer = parameter;
  longer.shape = {128, 16, 3, 5};
  const auto values = initial_values(parameter, kSeed);
  EXPECT_EQ(initial_values(parameter, kSeed), values);
  EXPECT_NE(initial_values(parameter, kSeed + 1), values);
  EXPECT_NE(initial_values(renamed, kSeed), values);
  const auto longer_values = initial_values(longer, kSeed);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), longer_values.begin()));
}

TEST(InitialValues, names_give_uncorrelated_streams) {
  Parameter a = weight_of({Init::Kind::Normal, 1.0});
  Parameter b = a;
  b.name = "conv.weighu";  // differs from a's name by one bit
  const auto x = initial_values(a, kSeed);
  const auto y = initial_values(b, kSeed);
  double product = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) product += static_cast<double>(x[i]) * y[i];
  const auto count = static_cast<double>(x.size());
  EXPECT_NEAR(product / count, 0.0, 5.0 / std::sqrt(count)) << "seed " << kSeed;
}

TEST(InitialValues, golden_first_values) {
  // A change of these values would change every run with the same seed. They were computed independently, in Python,
  // from the published definitions of Philox and FNV-1a.
  const Parameter normal{"conv1.weight", {2, 1, 1, 2}, Role::Weight, {Init::Kind::NormalFanOut}};
  const Parameter uniform{"fc.weight", {2, 2}, Role::Weight, {Init::Kind::UniformFanIn}};
  EXPECT_THAT(initial_values(normal, 1),
              ElementsAre(-0x1.5b08dep+0F, -0x1.95ef3ap-1F, -0x1.616484p-4F, -0x1.41ccdcp-3F));
  EXPECT_THAT(initial_values(uniform, 1), ElementsAre(0x1.a7b67cp-2F, 0x1.46e75ap-1F, 0x1.5f5582p-2F, -0x1.3567b8p-1F));
}

}  // namespace roentgen::graph
