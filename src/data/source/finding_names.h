// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The names that data sets give one finding: NIH says Effusion, CheXpert and MIMIC Pleural Effusion, PadChest
// "pleural effusion".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// A key that is equal for all names of one finding. Capitals become small letters, and underscores become blanks.
/// Synonyms of the four data sets map to one name (pleural effusion, infiltrates, pulmonary edema, hiatal hernia,
/// normal, ...). Names of a wider or narrower meaning (Lung Opacity, Lung Lesion, interstitial pattern) keep keys of
/// their own. padchest_tree.h relates PadChest's labels to findings. docs/reference/data.md has the list.
[[nodiscard]] std::string finding_key(std::string_view name);

/// Small letters without blanks, `_` and `-`: equal for "Pleural_Thickening", "pleural thickening" and
/// "PleuralThickening".
[[nodiscard]] std::string spelling_key(std::string_view name);

/// spelling_key() with the synonyms of finding_key(): equal for "Effusion" and "PleuralEffusion". For fields that list
/// findings as text; names of labels are told apart by finding_key().
[[nodiscard]] std::string finding_text_key(std::string_view name);

/// Position of the column of a finding: the very name, else the only one with its key, line breaks read as blanks.
[[nodiscard]] std::optional<std::size_t> finding_column(const std::vector<std::string>& header,
                                                        std::string_view finding);

/// ConfigError when finding_column() finds none for `label`, or for the column of "column:value", because several
/// columns of the table `what` have its key.
void refuse_ambiguous_column(const std::vector<std::string>& header, std::string_view what, const std::string& label);

/// ConfigError when two labels have one key.
void check_distinct_findings(const std::vector<std::string>& labels);

}  // namespace roentgen::data
