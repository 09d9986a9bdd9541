// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/aurocs_csv.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "eval/table.h"

namespace roentgen::train {
namespace {

TEST(AurocsCsv, has_a_row_a_label_and_nothing_where_undefined) {
  eval::EvalTable table;
  table.labels.resize(2);
  table.labels[0].label = "Mass, large";
  table.labels[0].auroc.value = 0.75;
  table.labels[1].label = "Hernia";
  EXPECT_EQ(aurocs_csv(table), "label,auc\n\"Mass, large\",0.75\nHernia,\n");
  const data::TestFolder folder;
  const auto aurocs = read_aurocs(folder.write("aucs.csv", aurocs_csv(table)));
  ASSERT_EQ(aurocs.size(), 2U);
  EXPECT_EQ(aurocs[0].first, "Mass, large");
  EXPECT_EQ(aurocs[0].second, 0.75);
  EXPECT_EQ(aurocs[1].first, "Hernia");
  EXPECT_FALSE(aurocs[1].second.has_value());
}

TEST(AurocsCsv, of_another_form_is_refused) {
  const data::TestFolder folder;
  for (const char* text : {"label,mean\nMass,0.8\n", "label,auc\nMass,1.8\n", "label,auc\nMass\n"}) {
    EXPECT_THROW(static_cast<void>(read_aurocs(folder.write("aucs.csv", text))), DataError) << text;
  }
}

}  // namespace
}  // namespace roentgen::train
