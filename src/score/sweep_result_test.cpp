// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/sweep_result.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "score/truth.h"

namespace roentgen::score {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kImages = 120;

// Fixture with one image per patient; every third patient has the finding.
class Sweeps : public testing::Test {
 protected:
  // Predictions with noise of this size, drawn by `salt`.
  ComparedModel model(double noise, int salt) {
    std::string text = "Image Index,prob_Mass\n";
    for (int i = 0; i < kImages; ++i) {
      const double drawn = ((i + 31) * (salt + 7) * 7919 % 1009) / 1009.0;
      text += fmt::format("{}.png,{}\n", i, ((i % 3 == 0 ? 0.5 : 0.2) + noise * drawn) / 2.0);
    }
    const std::string name = fmt::format("{}-{}.csv", noise, salt);
    return read_model(name, folder_.write(name, text));
  }
  ComparedSide side(std::vector<ComparedModel> models) {
    if (!first_) first_ = models.front();
    return make_side("side", std::move(models), truth_, *first_);
  }
  static SweepResult result(const std::vector<ComparedSide>& sides) {
    SweepResult result{.keys = {"optimizer.lr"}};
    for (std::size_t i = 0; i < sides.size(); ++i) {
      result.rows.push_back({.values = {fmt::format("0.{}", i + 1)}, .folder = fmt::format("run{}", i)});
    }
    compare_points(result, sides, {.replicates = 200});
    return result;
  }

  data::TestFolder folder_;
  std::optional<ComparedModel> first_;
  Truth truth_ = read_truth(folder_.write("labels.csv", table()), {"Mass"}, {});

 private:
  static std::string table() {
    std::string text = "path,patient,Mass\n";
    for (int i = 0; i < kImages; ++i) text += fmt::format("{0}.png,p{0},{1}\n", i, i % 3 == 0 ? 1 : 0);
    return text;
  }
};

TEST_F(Sweeps, name_the_best_point_if_all_intervals_exclude_zero) {
  const SweepResult swept = result({side({model(3.0, 1)}), side({model(0.1, 2)}), side({model(5.0, 3)})});
  EXPECT_EQ(swept.leader, 1U);
  EXPECT_TRUE(swept.has_best) << swept.reason;
  EXPECT_EQ(swept.rows[1].against_leader, std::nullopt);
  EXPECT_LT(swept.rows[0].against_leader->mean.delta.interval->high, 0.0);
  EXPECT_DOUBLE_EQ(*swept.rows[0].mean, *swept.rows[0].against_leader->mean.b.value);
  EXPECT_DOUBLE_EQ(*swept.rows[1].mean, *swept.rows[0].against_leader->mean.a.value);
  EXPECT_THAT(to_text(swept), HasSubstr("\nbest: optimizer.lr=0.2 (all intervals exclude 0)\n"));
  EXPECT_THAT(to_text(swept), HasSubstr("The intervals cover patients, not seeds"));
  EXPECT_EQ(to_value(swept).at("best").at("optimizer.lr"), Value("0.2"));
  EXPECT_THAT(to_csv(swept),
              testing::StartsWith("optimizer.lr,folder,mean_auroc,sd,difference,low,high,p,failed\n0.1,run0,"));
}

TEST_F(Sweeps, find_no_difference_if_one_interval_includes_zero) {
  const SweepResult swept = result({side({model(5.0, 1)}), side({model(0.6, 2)}), side({model(0.6, 3)})});
  ASSERT_TRUE(swept.leader);
  EXPECT_NE(swept.leader, 0U);
  EXPECT_FALSE(swept.has_best);
  const std::string other = *swept.leader == 1 ? "0.3" : "0.2";
  EXPECT_EQ(swept.reason, "the interval of optimizer.lr=" + other + " includes 0");
  EXPECT_THAT(to_text(swept), HasSubstr("\nno difference: the interval of optimizer.lr=" + other));
  EXPECT_THAT(to_text(swept), Not(HasSubstr("best:")));
  EXPECT_TRUE(to_value(swept).at("best").is_null());
  EXPECT_FALSE(to_value(swept).at("leader").is_null());
}

TEST_F(Sweeps, average_seeds_with_intervals_over_seeds) {
  const SweepResult swept = result(
      {side({model(4.0, 1), model(4.0, 2), model(4.0, 3)}), side({model(0.2, 4), model(0.2, 5), model(0.2, 6)})});
  EXPECT_TRUE(swept.covers_seeds);
  EXPECT_TRUE(swept.has_best) << swept.reason;
  ASSERT_TRUE(swept.rows[0].sd);
  EXPECT_EQ(swept.rows[0].sd, swept.rows[0].against_leader->mean.sd_b);
  EXPECT_THAT(to_text(swept), Not(HasSubstr("not seeds")));
  EXPECT_EQ(to_value(swept).at("intervals_cover"), Value("seeds and patients"));
}

TEST_F(Sweeps, without_resamples_name_no_best_point) {
  SweepResult swept{.keys = {"a.b"}, .rows = {{.values = {"1"}}, {.values = {"2"}}}};
  compare_points(swept, {side({model(0.1, 1)}), side({model(5.0, 2)})}, {.replicates = 0});
  EXPECT_EQ(swept.leader, 0U);
  EXPECT_FALSE(swept.has_best);
  EXPECT_EQ(swept.reason, "a.b=2 has no interval");
}

TEST_F(Sweeps, compare_the_points_beside_a_failed_one) {
  SweepResult swept{.keys = {"a.b"}};
  swept.rows = {{.values = {"1"}}, {.values = {"2"}, .failed = "a loss of nan"}, {.values = {"3"}}};
  compare_points(swept, {side({model(5.0, 1)}), side({model(0.1, 2)})}, {.replicates = 200});
  EXPECT_EQ(swept.leader, 2U);
  EXPECT_TRUE(swept.has_best) << swept.reason;
  EXPECT_EQ(swept.rows[1].mean, std::nullopt);
  EXPECT_TRUE(swept.rows[0].against_leader);
  EXPECT_THAT(to_text(swept), testing::EndsWith("\nfailed: a.b=2: a loss of nan\n"));
  EXPECT_THAT(to_csv(swept), HasSubstr("\n2,,,,,,,,a loss of nan\n"));
  EXPECT_EQ(to_value(swept).at("points").as_array()[1].at("failed"), Value("a loss of nan"));
}

TEST_F(Sweeps, with_one_point_left_have_no_best_one) {
  SweepResult swept{.keys = {"a.b"}, .rows = {{.values = {"1"}, .failed = "no memory"}, {.values = {"2"}}}};
  compare_points(swept, {side({model(0.1, 1)})}, {.replicates = 200});
  EXPECT_EQ(swept.leader, 1U);
  EXPECT_FALSE(swept.has_best);
  EXPECT_THAT(to_text(swept), HasSubstr("\nno difference: all other runs failed\n"));
}

TEST_F(Sweeps, that_were_not_compared_say_why) {
  SweepResult swept{.keys = {"a.b"}, .rows = {{.values = {"1"}, .mean = 0.75}, {.values = {"2"}}}};
  swept.reason = "other images";
  EXPECT_THAT(to_text(swept), HasSubstr("\nno comparison: other images\n"));
  EXPECT_THAT(to_text(swept), HasSubstr("0.7500"));
  EXPECT_TRUE(to_value(swept).at("leader").is_null());
}

}  // namespace
}  // namespace roentgen::score
