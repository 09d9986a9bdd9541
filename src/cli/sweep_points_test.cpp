// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/sweep_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::vector<std::string>& texts, const std::vector<std::string>& overrides = {}) {
  try {
    static_cast<void>(parse_sweep(texts, overrides));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(SweepPoints, are_all_combinations_with_the_last_key_fastest) {
  const std::vector<std::string> texts{"optimizer.lr=1e-3,1e-4", "train.batch=8,16,32"};
  const std::vector<SweepPoint> points = sweep_points(parse_sweep(texts, {}));
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[0].name, "optimizer.lr=1e-3, train.batch=8");
  EXPECT_EQ(points[1].name, "optimizer.lr=1e-3, train.batch=16");
  EXPECT_EQ(points[3].name, "optimizer.lr=1e-4, train.batch=8");
  EXPECT_THAT(points[5].values, ElementsAre("1e-4", "32"));
  EXPECT_THAT(points[5].overrides, ElementsAre("optimizer.lr=1e-4", "train.batch=32"));
  EXPECT_EQ(points[5].folder, "optimizer.lr=1e-4_train.batch=32");
}

TEST(SweepPoints, without_keys_are_one_point_without_values) {
  const std::vector<SweepPoint> points = sweep_points({});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(points[0].overrides.empty());
}

TEST(SweepPoints, split_no_value_inside_brackets_or_quotes) {
  const std::vector<std::string> texts{R"(schedule.milestones_epochs=[1,2],[2, 4],"a,b",'c,[')"};
  EXPECT_THAT(parse_sweep(texts, {})[0].values, ElementsAre("[1,2]", "[2, 4]", "\"a,b\"", "'c,['"));
}

TEST(SweepPoints, have_harmless_folder_names_that_differ) {
  std::set<std::string> names;
  for (const std::string value : {"a/b", "a b", "a-b", "../b", "\xC3\xA4", "", "a,b"}) {
    const std::string name = folder_name(std::vector{"train.init=" + value});
    EXPECT_EQ(name.find_first_of("/ ,\xC3"), std::string::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(folder_name(std::vector<std::string>{"a.b=-1e+3"}), "a.b=-1e+3");
  const std::string first = folder_name(std::vector{"train.init=" + std::string(500, 'x') + "1"});
  const std::string second = folder_name(std::vector{"train.init=" + std::string(500, 'x') + "2"});
  EXPECT_LT(first.size(), 200U);
  EXPECT_NE(first, second);
}

TEST(SweepPoints, of_another_form_are_refused) {
  EXPECT_THAT(refusal({"optimizer.lr"}), HasSubstr("expected section.key=values, got optimizer.lr"));
  EXPECT_THAT(refusal({"lr=0.1,0.2"}), HasSubstr("expected section.key=values"));
  EXPECT_THAT(refusal({"optimizer.lr=0.1"}), HasSubstr("two or more values"));
  EXPECT_THAT(refusal({"optimizer.lr=0.1,"}), HasSubstr("two or more values"));
  EXPECT_THAT(refusal({"optimizer.lr=0.1,0.2,0.1"}), HasSubstr("distinct values"));
  EXPECT_THAT(refusal({"optimizer.lr=1,2", "optimizer.lr=3,4"}), HasSubstr("each key once, got optimizer.lr twice"));
  EXPECT_THAT(refusal({"train.seed=1,2"}), HasSubstr("--seeds 0,1,2"));
  EXPECT_THAT(refusal({"optimizer.lr=1,2"}, {"optimizer.lr=3"}), HasSubstr("--sweep or --set of optimizer.lr"));
  EXPECT_EQ(refusal({"optimizer.lr=1,2"}, {"optimizer.lr_batch=3"}), "not refused");
}

}  // namespace
}  // namespace roentgen::cli
