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

TEST_F(Launch, a_sweep_measures_numbers_of_ranks) {
  const std::vector<std::string> words{"bench",
                                       "sweep",
                                       "--ranks",
                                       "2,1",
                                       "--model",
                                       "resnet18",
                                       "--batch",
                                       "2",
                                       "--fuse",
                                       "on",
                                       "--dtype",
                                       "f32",
                                       "--image",
                                       "32",
                                       "--threads",
                                       "1",
                                       "--steps",
                                       "4",
                                       "--warmup",
                                       "1",
                                       "--device",
                                       "cpu",
                                       "--oversubscribe",
                                       "--ledger",
                                       "none",
                                       "--out",
                                       place_ / "fastest.toml",
                                       "--json",
                                       place_ / "sweep.json"};
  place_.must_run(words);
  const Value result = read_json(place_ / "sweep.json");
  const Value::Array& rows = result.at("rows").as_array();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0].at("ranks"), rows[1].at("ranks"));
  for (const Value& row : rows) {
    EXPECT_EQ(row.at("failed").as_string(), "");
    EXPECT_EQ(row.at("samples").at("step_s").as_array().size(), 4U);
    EXPECT_GT(row.at("planned_bytes").as_integer(), 0);
  }
  EXPECT_EQ(result.at("chosen").at("ranks"), rows[0].at("ranks"));
  EXPECT_TRUE(fs::exists(place_ / "fastest.toml"));
}

TEST_F(Launch, a_sweep_of_training_runs_in_one_process) {
  const Ended run =
      place_.run(plus(train("runs"), {"--sweep", "optimizer.lr=1e-3,1e-4", "--ranks", "2", "--oversubscribe"}));
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--sweep: expected a single process, which trains one value after another"), std::string::npos)
      << run.err;
  EXPECT_FALSE(fs::exists(place_ / "runs"));
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
