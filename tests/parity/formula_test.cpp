// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the formulas against values that their Python version wrote.
#include "tests/parity/formula.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/parity/golden.h"

namespace roentgen::parity {
namespace {
// Converts golden values to float32. The golden file has nine digits, which identify a float32 exactly.
std::vector<float> as_float(const std::vector<double>& values) { return {values.begin(), values.end()}; }

graph::Parameter make_parameter(const std::string& name) {
  if (name == "a.weight") return {name, {4, 2, 3, 3}, graph::Role::Weight, {}};
  if (name == "b.weight") return {name, {3, 5}, graph::Role::Weight, {}};
  if (name == "b.bias") return {name, {3}, graph::Role::Bias, {}};
  if (name == "c.weight") return {name, {4}, graph::Role::NormScale, {}};
  return {name, {4}, graph::Role::RunningVariance, {}};
}

TEST(ParityFormula, hashes_equal_pythons) {
  const Value golden = read_tree("formula");
  EXPECT_EQ(fmt::format("{:016x}", key("conv1.weight")), golden.at("key").as_string());
  EXPECT_EQ(fmt::format("{:016x}", mix(key("a"), 5)), golden.at("mix").as_string());
}

TEST(ParityFormula, parameters_equal_pythons) {
  const Value golden = read_tree("formula");
  for (const auto& [name, values] : golden.at("parameters").as_table()) {
    EXPECT_EQ(parameter_values(make_parameter(name)), as_float(numbers(values))) << name;
  }
}

TEST(ParityFormula, batch_equals_pythons) {
  const Value golden = read_tree("formula");
  const Batch batch = make_batch(1, {2, 1, 16, 16}, 3);
  std::vector<float> every_37th;
  for (std::size_t i = 0; i < batch.image.size(); i += 37) every_37th.push_back(batch.image[i]);
  EXPECT_EQ(every_37th, as_float(numbers(golden.at("image"))));
  EXPECT_EQ(batch.labels, as_float(numbers(golden.at("target"))));
  EXPECT_EQ(batch.mask, as_float(numbers(golden.at("mask"))));
}

TEST(ParityFormula, projections_equal_pythons) {
  const std::vector<double> golden = numbers(read_tree("formula").at("projections"));
  const std::vector<double> ours = project("a.weight", parameter_values(make_parameter("a.weight")), 64);
  ASSERT_EQ(ours.size(), golden.size());
  // Tolerance for nine digits in the file, and sums of 72 terms below 1.
  for (std::size_t k = 0; k < ours.size(); ++k) EXPECT_NEAR(ours[k], golden[k], 1e-7);
}
}  // namespace
}  // namespace roentgen::parity
