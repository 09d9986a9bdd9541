// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The 14 findings of ChestX-ray14 in CheXNet's order, which Roentgen uses everywhere.
#pragma once

#include <array>
#include <string_view>

namespace roentgen::data {

/// The findings of ChestX-ray14, in the order of their labels.
inline constexpr std::array<std::string_view, 14> kNihFindings{
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};

/// Name that tables use for an image without any finding.
inline constexpr std::string_view kNoFinding = "No Finding";

}  // namespace roentgen::data
