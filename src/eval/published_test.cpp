// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace roentgen::eval {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array kCommunityPercent{10.8, 2.6, 12.3, 17.6, 5.1, 6.0, 1.1, 4.9, 4.3, 1.8, 2.3, 1.6, 3.3, 0.2};

const KnownList& list_of(std::string_view id) {
  for (const KnownList& list : known_lists()) {
    if (list.id == id) return list;
  }
  throw std::logic_error("no such list");
}

// Makes a table for the list "nih-community-test" whose AUROCs exceed those of the column by `above`, with intervals of
// this half width.
EvalTable table_above(const PublishedColumn& column, double above, double half_width) {
  const std::int64_t images = list_of("nih-community-test").images;
  EvalTable table{.images = images};
  for (std::size_t i = 0; i < kPublishedFindings.size(); ++i) {
    const double value = column.auroc[i] + above;
    table.labels.push_back(
        {.label = std::string(kPublishedFindings[i]),
         .auroc = {.value = value, .interval = Interval{.low = value - half_width, .high = value + half_width}},
         .positives = std::llround(kCommunityPercent[i] / 100.0 * static_cast<double>(images)),
         .n = images});
  }
  return table;
}

const PublishedColumn& chexnet() { return published_columns()[2]; }

// Expected means were computed from the publications.
TEST(Published, columns_have_their_means) {
  const std::array means{0.738, 0.803, 0.8414, 0.8427, 0.8481, 0.8508, 0.8383, 0.8357};
  ASSERT_EQ(published_columns().size(), means.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    const PublishedColumn& column = published_columns()[i];
    EXPECT_NEAR(column.mean(), means[i], i < 2 ? 6e-4 : 6e-5) << column.title;  // rounding of the published values
    EXPECT_EQ(column.is_own_split, i < 3) << column.title;
  }
  EXPECT_EQ(chexnet().title, "CheXNet");
}

TEST(Published, stand_beside_the_very_list_only) {
  const EvalTable table = table_above(chexnet(), 0.01, 0.005);
  EXPECT_EQ(columns_beside(table, &list_of("nih-community-test")).size(), 8U);
  EXPECT_TRUE(columns_beside(table, nullptr).empty());
  for (const char* other : {"nih-official-test", "nih-community-val", "nih-community-train"}) {
    EXPECT_TRUE(columns_beside(table, &list_of(other)).empty()) << other;
  }
}

TEST(Published, do_not_stand_beside_other_data_under_the_same_names) {
  const KnownList& list = list_of("nih-community-test");
  EvalTable table = table_above(chexnet(), 0.01, 0.005);
  table.labels[2].positives += list.images / 100;  // a prevalence that differs by more than the tolerance
  EXPECT_TRUE(columns_beside(table, &list).empty());
  table = table_above(chexnet(), 0.01, 0.005);
  table.labels[5].n -= 1;  // one image of unknown truth
  EXPECT_TRUE(columns_beside(table, &list).empty());
  table = table_above(chexnet(), 0.01, 0.005);
  table.labels.pop_back();
  EXPECT_TRUE(columns_beside(table, &list).empty());
  table = table_above(chexnet(), 0.01, 0.005);
  table.images -= 1;
  EXPECT_TRUE(columns_beside(table, &list).empty());
}

TEST(Published, verdicts_count_what_is_above_and_what_is_clear) {
  EXPECT_EQ(verdict(table_above(chexnet(), 0.01, 0.005), chexnet()),
            (Verdict{.findings = 14, .above = 14, .clearly_above = 14}));
  EXPECT_EQ(verdict(table_above(chexnet(), 0.01, 0.02), chexnet()), (Verdict{.findings = 14, .above = 14}));
  EXPECT_EQ(verdict(table_above(chexnet(), -0.03, 0.02), chexnet()),
            (Verdict{.findings = 14, .below = 14, .clearly_below = 14}));
  EvalTable mixed = table_above(chexnet(), 0.01, 0.005);
  mixed.labels[0].auroc = {.value = 0.5};
  mixed.labels[13].auroc = {.reason = kOneClass};
  EXPECT_EQ(verdict(mixed, chexnet()), (Verdict{.findings = 13, .above = 12, .clearly_above = 12, .below = 1}));
}

TEST(Published, are_told_with_verdict_and_footnote) {
  const EvalTable table = table_above(chexnet(), 0.01, 0.02);
  const auto columns = columns_beside(table, &list_of("nih-community-test"));
  const std::string text = published_text(table, columns);
  EXPECT_THAT(text,
              HasSubstr("above CheXNet in 14 of 14, interval excludes 0 in 0; below in 0, interval excludes 0 in 0\n"));
  EXPECT_THAT(text, HasSubstr("* own random split, never published"));
  EXPECT_THAT(text, HasSubstr("CheXNet *"));
  EXPECT_THAT(text, Not(HasSubstr("arnoweng *")));
  EXPECT_THAT(text, HasSubstr("Hernia"));
  EXPECT_EQ(published_text(table, {}), "");
  const Value value = published_value(table, columns);
  EXPECT_NEAR(value.at("CheXNet").at("mean_delta").as_double(), 0.01, 1e-12);
  EXPECT_EQ(value.at("CheXNet").at("above"), Value(14));
  EXPECT_NEAR(value.at("CheXNet").at("delta").at("Mass").as_double(), 0.01, 1e-12);
}

}  // namespace
}  // namespace roentgen::eval
