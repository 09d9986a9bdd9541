// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests on one rank; tests/CMakeLists.txt runs the case on several.
#include "bench/cases/allreduce.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "dist/reduce/reducer.h"
#include "dist/reduce/wire.h"

namespace roentgen::bench {
namespace {

TEST(Allreduce, sizes_are_powers_of_4_times_the_least_and_the_most) {
  EXPECT_EQ(bucket_sizes(4096, 4096), (std::vector<std::size_t>{4096}));
  EXPECT_EQ(bucket_sizes(4096, 70'001), (std::vector<std::size_t>{4096, 16384, 65536, 70'000}));
  EXPECT_THROW(static_cast<void>(bucket_sizes(4096, 4095)), ConfigError);
  EXPECT_THROW(static_cast<void>(bucket_sizes(3, 4096)), ConfigError);
}

TEST(Allreduce, has_a_row_for_every_size_way_and_format) {
  const auto group = dist::make_communicator("single");
  const Value result = run_allreduce(*group, {.most_bytes = 16384, .in_flight = 3, .rounds = 2, .measurement_s = 0.0});
  EXPECT_EQ(result.at("kind").as_string(), "measured");
  EXPECT_EQ(result.at("ranks").as_integer(), 1);
  EXPECT_FALSE(result.at("oversubscribed").as_bool());
  const Value::Array& rows = result.at("results").as_array();
  ASSERT_EQ(rows.size(), 2 * (1 + dist::kWireNames.size() * dist::reduce_names().size()));
  EXPECT_EQ(rows[0].at("way").as_string(), "mpi");
  EXPECT_EQ(rows[0].at("bytes").as_integer(), 4096);
  EXPECT_EQ(rows.back().at("wire").as_string(), "f16");
  for (const Value& row : rows) {
    EXPECT_LE(row.at("min_us").as_double(), row.at("us").as_double());
    EXPECT_LE(row.at("us").as_double(), row.at("max_us").as_double());
    EXPECT_NEAR(row.at("gb_per_s").as_double(),
                static_cast<double>(row.at("bytes").as_integer()) * 1e-3 / row.at("us").as_double(), 1e-6);
    EXPECT_EQ(row.at("bus_gb_per_s").as_double(), 0.0) << "one rank has no bus";
  }
}

TEST(Allreduce, float32_answers_may_be_off_by_less_than_those_of_16_bits) {
  constexpr double kFactor = 7.0 / 3.0;
  std::vector<float> data(40);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(kFactor * static_cast<double>(i % 31));
  EXPECT_EQ(first_wrong(data, kFactor, "f32"), std::nullopt);
  data[35] *= 1.0F + 0x1p-12F;
  EXPECT_EQ(first_wrong(data, kFactor, "f32"), 35U);
  for (const char* wire : {"bf16", "f16"}) EXPECT_EQ(first_wrong(data, kFactor, wire), std::nullopt) << wire;
  data[35] *= 1.0F + 0x1p-7F;
  EXPECT_EQ(first_wrong(data, kFactor, "bf16"), 35U);
  data[31] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(first_wrong(data, kFactor, "bf16"), 31U);
}

TEST(Allreduce, refuses_unknown_names_and_no_rounds) {
  const auto group = dist::make_communicator("single");
  EXPECT_THROW(static_cast<void>(run_allreduce(*group, {.ways = {"magic"}})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_allreduce(*group, {.wires = {"f64"}})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_allreduce(*group, {.rounds = 0})), ConfigError);
  EXPECT_THROW(static_cast<void>(run_allreduce(*group, {.in_flight = 0})), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
