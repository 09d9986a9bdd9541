// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fields of NIH's csv files, in all published versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Canonical spelling of a finding: Pleural_Thickening for "Pleural Thickening", Infiltration for "Infiltrate" in the
/// csv of boxes.
[[nodiscard]] std::string canonical_finding(std::string_view text);

/// Patient number without leading zeros: "17" for "00000017", "17" and the image name "00000017_003.png". Empty for
/// empty text.
[[nodiscard]] std::string canonical_patient(std::string_view text);

/// Findings in a field such as "Mass|Nodule", each in canonical_finding() form. Splits the field by split_names().
[[nodiscard]] std::vector<std::string> split_findings(std::string_view text);

}  // namespace roentgen::data
