// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/seed_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

TEST(SeedTable, has_mean_and_sd_by_hand) {
  const SeedTable table = make_seed_table({{0, {{"Mass", 0.8}, {"Hernia", {}}, {"Edema", 0.6}}},
                                           {1, {{"Mass", 0.9}, {"Hernia", 0.7}, {"Edema", 0.5}}},
                                           {7, {{"Edema", 0.7}, {"Mass", 0.7}, {"Hernia", 0.6}}}});
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_NEAR(*table.rows[0].mean, 0.8, 1e-12);
  EXPECT_NEAR(*table.rows[0].sd, 0.1, 1e-12);
  EXPECT_FALSE(table.rows[1].mean.has_value()) << "undefined for one seed";
  // Each seed's mean over Mass and Edema is 0.7.
  EXPECT_NEAR(*table.rows[3].mean, 0.7, 1e-12);
  EXPECT_NEAR(*table.rows[3].sd, 0.0, 1e-7);
  EXPECT_THAT(to_text(table), HasSubstr("Mass     0.8000  0.1000  0.8000  0.9000  0.7000\n"));
  EXPECT_THAT(to_text(table), HasSubstr("Hernia        -       -       -  0.7000  0.6000\n"));
  EXPECT_THAT(to_csv(table), testing::StartsWith("label,mean,sd,seed_0,seed_1,seed_7\nMass,0.8,0.1,0.8,0.9,0.7\n"));
  EXPECT_TRUE(to_value(table).at("Hernia").at("mean").is_null());
}

TEST(SeedTable, of_one_seed_has_no_sd) {
  const SeedTable table = make_seed_table({{3, {{"Mass", 0.8}}}});
  EXPECT_EQ(table.rows[0].mean, 0.8);
  EXPECT_FALSE(table.rows[0].sd.has_value());
}

TEST(SeedTable, refuses_runs_of_other_labels) {
  EXPECT_THROW(static_cast<void>(make_seed_table({{0, {{"Mass", 0.8}}}, {1, {{"Edema", 0.8}}}})), DataError);
}

}  // namespace
}  // namespace roentgen::eval
