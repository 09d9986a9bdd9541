// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen train --seeds: one run per seed, and their common result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Seeds, are_runs_of_their_own_that_resume_and_are_averaged) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  const auto quick = plus(place.train_arguments(data, "runs"), {"--set", "train.epochs=2"});
  EXPECT_EQ(place.run(plus(quick, {"--seeds", "0,5", "--stop-after", "3"})).code, 3);
  EXPECT_TRUE(fs::exists(place / "runs/seed-0/checkpoints/resume.safetensors"));
  EXPECT_FALSE(fs::exists(place / "runs/seed-5"));
  const Ended both = place.must_run(plus(quick, {"--seeds", "0,5", "--resume", "--json", place / "seeds.json"}));
  EXPECT_THAT(both.out, HasSubstr("standard deviation over 2 seeds"));
  EXPECT_THAT(both.out, HasSubstr("\nCardiomegaly"));

  // A stopped and resumed run among several gives the same bits as a run alone.
  place.must_run(plus(place.train_arguments(data, "alone"), {"--set", "train.epochs=2", "--set", "train.seed=5"}));
  EXPECT_EQ(read_all(place / "alone/aucs.csv"), read_all(place / "runs/seed-5/aucs.csv"));
  EXPECT_EQ(read_all(place / "alone/checkpoints/best.safetensors"),
            read_all(place / "runs/seed-5/checkpoints/best.safetensors"));
  EXPECT_NE(read_all(place / "runs/seed-0/aucs.csv"), read_all(place / "runs/seed-5/aucs.csv"));

  const Value json = read_json(place / "seeds.json");
  EXPECT_EQ(json.at("seeds").as_array().size(), 2U);
  const Value& mean = json.at("auroc").at("mean");
  const double first = mean.at("values").as_array()[0].as_double();
  const double second = mean.at("values").as_array()[1].as_double();
  EXPECT_NEAR(mean.at("mean").as_double(), (first + second) / 2, 1e-12);
  EXPECT_NEAR(mean.at("sd").as_double(), std::abs(first - second) / std::sqrt(2.0), 1e-12);
  EXPECT_THAT(read_all(place / "runs/seeds.csv"), testing::StartsWith("label,mean,sd,seed_0,seed_5\n"));

  const std::string log = read_all(place / "runs/seed-0/log.jsonl");
  const Ended more = place.must_run(plus(quick, {"--seeds", "0,5,6", "--resume"}));
  EXPECT_THAT(more.out, HasSubstr("seed 0: finished before\nseed 5: finished before\nseed 6:\n"));
  EXPECT_EQ(read_all(place / "runs/seed-0/log.jsonl"), log);
}

TEST(Seeds, are_refused_before_the_first_one_trains) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const auto train = place.train_arguments(data, "runs");
  expect_refusal(place.run(plus(train, {"--seeds", "1,1"})), {"distinct whole numbers", "got 1,1"});
  expect_refusal(place.run(plus(train, {"--seeds", "1,2", "--set", "train.seed=3"})), {"--seeds or --set train.seed"});
  place.write("runs/seed-2/recipe.toml", "");
  expect_refusal(place.run(plus(train, {"--seeds", "1,2"})), {"seed-2: expected a new or empty folder"});
  EXPECT_FALSE(fs::exists(place / "runs/seed-1"));
  expect_refusal(place.run(plus(train, {"--seeds", "3", "--json", place / "runs/seeds.csv"})),
                 {"which the command itself writes"});
  place.write("runs/log.jsonl", "");
  expect_refusal(place.run(plus(train, {"--seeds", "3"})), {"runs: expected a new or empty folder"});
}

}  // namespace
}  // namespace roentgen::e2e
