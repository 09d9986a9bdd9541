// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/padchest_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <utility>

namespace roentgen::data {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

TEST(PadchestTree, narrower_labels_mean_the_finding) {
  for (const auto& [finding, named] : {Pair{"Atelectasis", "laminar atelectasis"},
                                       {"Atelectasis", "atelectasis basal"},
                                       {"Effusion", "loculated pleural effusion"},
                                       {"Pleural Effusion", "hydropneumothorax"},
                                       {"Pneumothorax", "hydropneumothorax"},
                                       {"Nodule", "multiple nodules"},
                                       {"Pleural_Thickening", "apical pleural thickening"},
                                       {"Pneumonia", "atypical pneumonia"},
                                       {"Pneumonia", "COVID 19"},
                                       {"Infiltration", "interstitial pattern"},
                                       {"Fibrosis", "post radiotherapy changes"},
                                       {"fracture", "callus rib fracture"}}) {
    EXPECT_EQ(padchest_relation(finding, named), PadchestRelation::Means) << finding << ", " << named;
  }
}

TEST(PadchestTree, other_names_mean_the_finding) {
  for (const auto& [finding, named] : {Pair{"Effusion", "pleural effusion"},
                                       {"Mass", "pulmonary mass"},
                                       {"Infiltration", "infiltrates"},
                                       {"Hernia", "hiatal hernia"},
                                       {"No Finding", "normal"},
                                       {"Infiltration", "Interstitial_Pattern"},
                                       {"NSG TUBE", "NSG tube"}}) {
    EXPECT_EQ(padchest_relation(finding, named), PadchestRelation::Means) << finding << ", " << named;
  }
}

TEST(PadchestTree, wider_labels_and_signs_leave_the_finding_open) {
  for (const auto& [finding, named] : {Pair{"Mass", "mass"},
                                       {"Mass", "pleural mass"},
                                       {"Nodule", "pseudonodule"},
                                       {"Atelectasis", "volume loss"},
                                       {"Effusion", "costophrenic angle blunting"},
                                       {"Infiltration", "consolidation"},
                                       {"Consolidation", "alveolar pattern"},
                                       {"Consolidation", "infiltrates"},
                                       {"Emphysema", "COPD signs"},
                                       {"Hernia", "mediastinal enlargement"},
                                       {"rib fracture", "fracture"},
                                       {"ground glass pattern", "infiltrates"}}) {
    EXPECT_EQ(padchest_relation(finding, named), PadchestRelation::Open) << finding << ", " << named;
  }
}

TEST(PadchestTree, a_label_as_the_lists_write_it_is_meant_by_itself) {
  EXPECT_EQ(padchest_relation("mass", "mass"), PadchestRelation::Means);
  EXPECT_EQ(padchest_relation("volume loss", " volume loss"), PadchestRelation::Means);
}

TEST(PadchestTree, names_that_only_sound_alike_say_nothing) {
  for (const auto& [finding, named] : {Pair{"Effusion", "pericardial effusion"},
                                       {"Emphysema", "subcutaneous emphysema"},
                                       {"Nodule", "nipple shadow"},
                                       {"Pneumothorax", "pneumomediastinum"},
                                       {"Atelectasis", "normal"},
                                       {"Mass", ""}}) {
    EXPECT_EQ(padchest_relation(finding, named), PadchestRelation::None) << finding << ", " << named;
  }
}

}  // namespace
}  // namespace roentgen::data
