// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/aurocs_csv.h"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace roentgen::train
