// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen train --sweep: one run per value, and their comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Returns the output from the table on.
std::string table_of(const Ended& run) { return run.out.substr(run.out.find("\n\n") + 2); }

TEST(Sweep, interrupted_and_resumed_gives_the_same_table) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  const auto sweep = [&](std::string_view out, const std::vector<std::string>& more) {
    return plus(plus(place.train_arguments(data, out),
                     {"--set", "train.epochs=2", "--sweep", "optimizer.lr=0.01,1e-7", "--seeds", "0,1"}),
                more);
  };
  const Ended whole = place.must_run(sweep("whole", {"--json", place / "whole.json"}));
  EXPECT_THAT(whole.out, HasSubstr("run 1 of 4, optimizer.lr=0.01, seed 0:\n"));
  EXPECT_EQ(place.run(sweep("parts", {"--stop-after", "3"})).code, 3);
  EXPECT_TRUE(fs::exists(place / "parts/optimizer.lr=0.01/seed-0/checkpoints/resume.safetensors"));
  EXPECT_FALSE(fs::exists(place / "parts/optimizer.lr=1e-7"));
  const Ended resumed = place.must_run(sweep("parts", {"--resume", "--json", place / "parts.json"}));
  EXPECT_EQ(table_of(resumed), table_of(whole));
  const Ended again = place.must_run(sweep("parts", {"--resume"}));
  EXPECT_THAT(again.out, HasSubstr("run 4 of 4, optimizer.lr=1e-7, seed 1: finished before\n"));
  EXPECT_EQ(table_of(again), table_of(whole));

  const Value json = read_json(place / "whole.json");
  EXPECT_EQ(json.at("runs").as_array().size(), 4U);
  const Value& points = json.at("sweep").at("points");
  ASSERT_EQ(points.as_array().size(), 2U);
  EXPECT_EQ(points.as_array()[1].at("values").at("optimizer.lr"), Value("1e-7"));
  EXPECT_EQ(json.at("sweep").at("intervals_cover"), Value("seeds and patients"));
  EXPECT_EQ(points.as_array()[0].at("mean_auroc"),
            read_json(place / "parts.json").at("sweep").at("points").as_array()[0].at("mean_auroc"));
  EXPECT_THAT(read_all(place / "whole/sweep.csv"), testing::StartsWith("optimizer.lr,folder,mean_auroc,"));
  EXPECT_THAT(read_all(place / "whole/optimizer.lr=0.01/seeds.csv"), HasSubstr("seed_1"));

  // `compare` of the two folders gives the same interval.
  const bool is_first = json.at("sweep").at("leader").at("optimizer.lr") == Value("0.01");
  const fs::path leader = place / (is_first ? "whole/optimizer.lr=0.01" : "whole/optimizer.lr=1e-7");
  const fs::path other = place / (is_first ? "whole/optimizer.lr=1e-7" : "whole/optimizer.lr=0.01");
  place.must_run({"compare", leader, other, "--labels", data, "--json", place / "compare.json"});
  EXPECT_EQ(points.as_array()[is_first ? 1 : 0].at("against_leader").at("mean"),
            read_json(place / "compare.json").at("mean"));
}

TEST(Sweep, goes_on_after_a_run_that_diverges) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  const std::vector<std::string> sweep =
      plus(place.train_arguments(data, "runs"), {"--set", "train.epochs=1", "--set", "optimizer.name=sgd", "--sweep",
                                                 "optimizer.weight_decay=0,1e30,0.001", "--json", place / "runs.json"});
  const Ended run = place.run(sweep);
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("run 3 of 3, optimizer.weight_decay=0.001:\n"));
  EXPECT_THAT(run.out, HasSubstr("\nfailed: optimizer.weight_decay=1e30: [train.step] step "));
  EXPECT_THAT(run.err, HasSubstr("optimizer.weight_decay=1e30: [train.step] step "));
  const Value json = read_json(place / "runs.json");
  EXPECT_THAT(json.at("runs").as_array()[1].at("failed").as_string(), HasSubstr("expected a finite"));
  EXPECT_EQ(json.at("runs").as_array()[2].at("failed"), Value(""));
  const Value::Array& points = json.at("sweep").at("points").as_array();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_TRUE(points[1].at("mean_auroc").is_null());
  EXPECT_FALSE(points[2].at("mean_auroc").is_null());
  EXPECT_NE(points[0].at("against_leader").is_null(), points[2].at("against_leader").is_null());
  const Ended again = place.run(plus(sweep, {"--resume"}));
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.out, HasSubstr("run 3 of 3, optimizer.weight_decay=0.001: finished before\n"));
  EXPECT_EQ(table_of(again), table_of(run));
}

TEST(Sweep, of_data_keys_reads_the_data_again) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  const Ended run = place.must_run(
      plus(place.train_arguments(data, "runs"), {"--set", "train.epochs=1", "--sweep", "data.split_seed=0,1"}));
  EXPECT_NE(read_all(place / "runs/data.split_seed=0/preds.csv"), read_all(place / "runs/data.split_seed=1/preds.csv"));
  EXPECT_THAT(run.out, HasSubstr("\nno comparison: "));
}

TEST(Sweep, is_refused_before_the_first_run) {
  const Workplace place;
  const fs::path data = place.synth("data", 60);
  const auto train = place.train_arguments(data, "runs");
  expect_refusal(place.run(plus(train, {"--sweep", "train.batch=4,many"})),
                 {"--sweep train.batch=many: train.batch: expected a whole number"});
  expect_refusal(place.run(plus(train, {"--sweep", "train.bach=4,8"})), {"--sweep train.bach", "train.batch"});
  expect_refusal(place.run(plus(train, {"--sweep", "train.cache_px=0,16"})), {"train.cache_px=16", "train.cache=disk"});
  expect_refusal(place.run(plus(train, {"--sweep", "optimizer.lr=0.001,1e-3"})),
                 {"the same one for optimizer.lr=0.001 and optimizer.lr=1e-3"});
  expect_refusal(place.run(plus(train, {"--sweep", "train.seed=1,2"})), {"--seeds 0,1,2"});
  expect_refusal(place.run(plus(train, {"--sweep", "optimizer.lr=1,2", "--json", place / "runs/sweep.csv"})),
                 {"which the command itself writes"});
  EXPECT_FALSE(fs::exists(place / "runs"));
}

}  // namespace
}  // namespace roentgen::e2e
