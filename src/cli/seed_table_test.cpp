// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/seed_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/file_testing.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SeedTable, reads_seeds) {
  EXPECT_THAT(parse_seeds("0,17,2"), ElementsAre(0, 17, 2));
  EXPECT_THAT(parse_seeds("5"), ElementsAre(5));
  for (const char* bad : {"", "1,", ",1", "1,1", "-1", "a", "1 ,2", "1.5", "2000000000"}) {
    try {
      static_cast<void>(parse_seeds(bad));
      FAIL() << bad;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("distinct whole numbers"));
    }
  }
}

TEST(SeedTable, has_mean_and_sd_by_hand) {
  const ScratchFile a("label,auc\nMass,0.8\nHernia,\nEdema,0.6\n");
  const ScratchFile b("label,auc\nMass,0.9\nHernia,0.7\nEdema,0.5\n");
  const ScratchFile c("label,auc\nEdema,0.7\nMass,0.7\nHernia,0.6\n");
  const SeedTable table =
      make_seed_table({read_seed_aurocs(0, a.path()), read_seed_aurocs(1, b.path()), read_seed_aurocs(7, c.path())});
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_NEAR(*table.rows[0].mean, 0.8, 1e-12);
  EXPECT_NEAR(*table.rows[0].sd, 0.1, 1e-12);
  EXPECT_FALSE(table.rows[1].mean.has_value()) << "undefined for one seed";
  // Means over Mass and Edema: 0.7, 0.7, 0.7.
  EXPECT_NEAR(*table.rows[3].mean, 0.7, 1e-12);
  EXPECT_NEAR(*table.rows[3].sd, 0.0, 1e-7);
  EXPECT_THAT(to_text(table), HasSubstr("Mass     0.8000  0.1000  0.8000  0.9000  0.7000\n"));
  EXPECT_THAT(to_text(table), HasSubstr("Hernia        -       -       -  0.7000  0.6000\n"));
  EXPECT_THAT(to_csv(table), testing::StartsWith("label,mean,sd,seed_0,seed_1,seed_7\nMass,0.8,0.1,0.8,0.9,0.7\n"));
  EXPECT_TRUE(to_value(table).at("Hernia").at("mean").is_null());
}

TEST(SeedTable, of_one_seed_has_no_sd) {
  const ScratchFile a("label,auc\nMass,0.8\n");
  const SeedTable table = make_seed_table({read_seed_aurocs(3, a.path())});
  EXPECT_EQ(table.rows[0].mean, 0.8);
  EXPECT_FALSE(table.rows[0].sd.has_value());
}

TEST(SeedTable, refuses_files_that_do_not_fit) {
  const ScratchFile a("label,auc\nMass,0.8\n");
  const ScratchFile b("label,auc\nEdema,0.8\n");
  const ScratchFile c("label,mean\nMass,0.8\n");
  const ScratchFile d("label,auc\nMass,1.8\n");
  EXPECT_THROW(static_cast<void>(make_seed_table({read_seed_aurocs(0, a.path()), read_seed_aurocs(1, b.path())})),
               DataError);
  EXPECT_THROW(static_cast<void>(read_seed_aurocs(0, c.path())), DataError);
  EXPECT_THROW(static_cast<void>(read_seed_aurocs(0, d.path())), DataError);
}

}  // namespace
}  // namespace roentgen::cli
