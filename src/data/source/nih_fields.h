// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The fields of NIH's csv, in all its published versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Canonical spelling of a finding: "Pleural Thickening" is Pleural_Thickening, the box csv's "Infiltrate"
/// Infiltration.
[[nodiscard]] std::string canonical_finding(std::string_view text);

/// "17" of "00000017", of "17" and of the image name "00000017_003.png"; empty of nothing.
[[nodiscard]] std::string canonical_patient(std::string_view text);

/// The findings of "Mass|Nodule", each as canonical_finding() spells it: split_names() of finding_text.h.
[[nodiscard]] std::vector<std::string> split_findings(std::string_view text);

}  // namespace roentgen::data
