// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/run_summary.h"

#include <gtest/gtest.h>

namespace roentgen::cli {
namespace {

TEST(FindingTable, lists_every_finding_and_the_mean_of_those_defined) {
  EXPECT_EQ(finding_table({{"Mass", 0.75}, {"Nodule", std::nullopt}, {"Edema", 0.5}}),
            "finding  validation AUROC\n"
            "-------------------------\n"
            "Mass               0.7500\n"
            "Nodule                  -\n"
            "Edema              0.5000\n"
            "-------------------------\n"
            "mean               0.6250\n");
}

TEST(FindingTable, has_no_mean_of_a_single_value) {
  EXPECT_EQ(finding_table({{"Mass", 0.75}}),
            "finding  validation AUROC\n"
            "-------------------------\n"
            "Mass               0.7500\n");
}

TEST(NextCommand, evaluates_test_images_or_predicts) {
  EXPECT_EQ(next_command("run/best.safetensors", {"a", "nih=b c"}, true),
            "next: roentgen eval --checkpoint run/best.safetensors --data a --data 'nih=b c' --split test\n");
  EXPECT_EQ(next_command("my run/best.safetensors", {"a"}, false),
            "next: roentgen predict --checkpoint 'my run/best.safetensors' IMAGES\n");
}

}  // namespace
}  // namespace roentgen::cli
