// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/finding_names.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "data/source/chexpert_labels.h"
#include "data/source/findings.h"

namespace roentgen::data {
namespace {

TEST(FindingNames, of_four_data_sets_have_one_key) {
  for (const char* name : {"Effusion", "Pleural Effusion", "pleural effusion", " Pleural_Effusion"}) {
    EXPECT_EQ(finding_key(name), "effusion") << name;
  }
  EXPECT_EQ(finding_key("Pleural_Thickening"), finding_key("pleural thickening"));
  EXPECT_EQ(finding_key("infiltrates"), finding_key("Infiltration"));
  EXPECT_EQ(finding_key("normal"), finding_key("No Finding"));
}

TEST(FindingNames, of_wider_and_narrower_things_stay_apart) {
  EXPECT_NE(finding_key("Lung Opacity"), finding_key("Infiltration"));
  EXPECT_NE(finding_key("Lung Lesion"), finding_key("Mass"));
  EXPECT_NE(finding_key("Pleural Other"), finding_key("Pleural_Thickening"));
}

TEST(FindingNames, of_one_data_set_are_different_findings) {
  std::set<std::string> nih, chexpert;
  for (const auto finding : kNihFindings) nih.insert(finding_key(finding));
  for (const auto finding : kChexpertFindings) chexpert.insert(finding_key(finding));
  EXPECT_EQ(nih.size(), kNihFindings.size());
  EXPECT_EQ(chexpert.size(), kChexpertFindings.size());
}

TEST(FindingNames, find_a_column_by_the_very_name_first) {
  EXPECT_EQ(finding_column({"Path", "Pleural Effusion"}, "Effusion"), 1U);
  EXPECT_EQ(finding_column({"pleural effusion", "Effusion"}, "Effusion"), 1U);
  EXPECT_EQ(finding_column({"pleural effusion", "EFFUSION"}, "Effusion"), std::nullopt) << "two that could be meant";
  EXPECT_EQ(finding_column({"Path"}, "Effusion"), std::nullopt);
}

TEST(FindingNames, mean_one_finding_once) {
  check_distinct_findings({"Effusion", "Edema", "Lung Opacity"});
  EXPECT_THROW(check_distinct_findings({"Edema", "pulmonary edema"}), ConfigError);
  EXPECT_THROW(check_distinct_findings({"Mass", "mass"}), ConfigError);
}

}  // namespace
}  // namespace roentgen::data
