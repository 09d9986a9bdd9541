// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests benchmark cases that train with several ranks.
#include <gtest/gtest.h>

#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

TEST_F(Launch, a_short_test_compares_numbers_of_ranks) {
  place_.must_run({"bench",
                   "short",
                   "--ranks",
                   "1,2",
                   "--model",
                   "resnet18",
                   "--batch",
                   "2",
                   "--image",
                   "32",
                   "--threads",
                   "1",
                   "--steps",
                   "4",
                   "--warmup",
                   "1",
                   "--oversubscribe",
                   "--device",
                   "cpu",
                   "--ledger",
                   "none",
                   "--json",
                   place_ / "short.json"});
  const Value result = read_json(place_ / "short.json");
  ASSERT_EQ(result.at("points").as_array().size(), 2U);
  EXPECT_EQ(result.at("n").as_integer(), 4) << "equal in both rows";
  EXPECT_EQ(result.at("points").as_array()[1].at("ranks").as_integer(), 2);
  EXPECT_EQ(result.at("points").as_array()[1].at("samples").at("step_s").as_array().size(), 4U);
}

TEST_F(Launch, a_long_test_trains_with_ranks) {
  const std::vector<std::string> words = train("unused");
  place_.must_run(
      {"bench",           "long",     "--recipe",   words[2],   "--data",     data_,     "--out",
       place_ / "long",   "--model",  words.back(), "--target", "auroc=0.01", "--ranks", "2",
       "--oversubscribe", "--device", "cpu",        "--ledger", "none",       "--json",  place_ / "long.json"});
  const Value result = read_json(place_ / "long.json");
  EXPECT_TRUE(result.at("reached").as_bool());
  EXPECT_EQ(result.at("ranks").as_integer(), 2);
  EXPECT_TRUE(fs::exists(place_ / "long/batch-16/checkpoints/best.safetensors"));
}

}  // namespace
}  // namespace roentgen::e2e
