// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::bench {
namespace {

TEST(BenchOptions, read_batches) {
  EXPECT_EQ(parse_batches("1"), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(parse_batches("16,1,65536"), (std::vector<std::int64_t>{16, 1, 65536}));
  for (const char* text : {"", "0", "1,", ",1", "1;2", "-4", "65537", "1,2x", "99999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(parse_batches(text)), ConfigError) << text;
  }
}

TEST(BenchOptions, read_numbers_of_ranks) {
  EXPECT_EQ(RankArguments{.ranks = "1,4"}.counts(), (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(RankArguments{.ranks = "3"}.count(), 3);
  EXPECT_THROW(static_cast<void>(RankArguments{.ranks = "1,4"}.count()), ConfigError);
  EXPECT_THROW(static_cast<void>(RankArguments{.ranks = "two"}.counts()), ConfigError);
}

TEST(BenchOptions, are_taken_by_name_and_bound_to_their_group) {
  SizeArguments sizes;
  const std::vector<Option> options = joined({sizes.options({"--steps", "--batch"}), {rounds_option(sizes.warmup)}});
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].name, "--steps");
  EXPECT_EQ(std::get<std::int64_t*>(options[0].target), &sizes.steps);
  EXPECT_EQ(options[2].name, "--rounds");
}

TEST(BenchOptions, of_the_exchange_say_their_default) {
  RankArguments arguments;
  const auto docs = [&](Names names) {
    const std::vector<Option> options = arguments.options(names);
    return options[options.size() - 2].doc + "; " + options.back().doc;
  };
  EXPECT_EQ(
      docs({"--ranks", "--reduce", "--wire"}),
      "algorithm that averages gradients (default: auto); format of sent gradients: f32, bf16, f16 (default: f32)");
  EXPECT_EQ(
      docs({"--reduce", "--wire"}),
      "algorithms that average gradients (default: all); format of sent gradients: f32, bf16, f16 (default: all)");
  EXPECT_EQ(arguments.request(false).reduce, "auto");
  EXPECT_EQ(arguments.request(false).wire, "f32");
}

TEST(BenchOptions, that_are_not_given_leave_the_case_its_own_sizes) {
  const NetworkArguments network;
  EXPECT_EQ(network.sized({}).batch, NetworkOptions{}.batch);
  EXPECT_EQ(network.sized({}).channels, 3);
  EXPECT_EQ(network.sized({.batch = "2", .channels = 1}).batch, 2);
  EXPECT_EQ(network.sized({.batch = "2", .channels = 1}).channels, 1);
  EXPECT_THROW(static_cast<void>(network.sized({.batch = "2,4"})), ConfigError);
}

TEST(BenchOptions, of_a_device_say_whether_it_is_emulated) {
  NetworkOptions network{.device = "emulated:200"};
  EXPECT_DOUBLE_EQ(take_emulated_device(network), 200.0);
  EXPECT_EQ(network.device, "cpu");
  EXPECT_DOUBLE_EQ(take_emulated_device(network), 0.0);
}

TEST(BenchOptions, of_slots_name_a_type_of_pixels_or_values) {
  InputArguments arguments;
  EXPECT_EQ(arguments.checked({}).slot_dtype, DType::F32);
  arguments.slot_dtype = "u16";
  EXPECT_EQ(arguments.checked({}).slot_dtype, DType::U16);
  arguments.slot_dtype = "bf16";
  EXPECT_THROW(static_cast<void>(arguments.checked({})), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
