// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Names of one finding in different data sets: NIH says Effusion, CheXpert and MIMIC Pleural Effusion, PadChest
// "pleural effusion".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Key that is equal for all names of one finding. Capitals become small letters, and underscores become blanks.
/// Synonyms in the four data sets map to one name (pleural effusion, infiltrates, pulmonary edema, hiatal hernia,
/// normal, ...). Names with a wider or narrower meaning (Lung Opacity, Lung Lesion, interstitial pattern) have separate
/// keys. padchest_tree.h relates PadChest's labels to findings. The list is in docs/reference/data.md.
[[nodiscard]] std::string finding_key(std::string_view name);

/// True for the name of a finding in NIH's or CheXpert's data, or a synonym of finding_key().
[[nodiscard]] bool is_known_finding(std::string_view name);

/// Text in small letters without blanks, `_` and `-`. Equal for "Pleural_Thickening", "pleural thickening" and
/// "PleuralThickening".
[[nodiscard]] std::string spelling_key(std::string_view name);

/// spelling_key() after synonyms of finding_key() are merged: equal for "Effusion" and "PleuralEffusion". Used for
/// fields that list findings as text; label names are compared by finding_key().
[[nodiscard]] std::string finding_text_key(std::string_view name);

/// Index of a finding's column: the exact name, else the only column with the same finding_key(). Line breaks count as
/// blanks.
[[nodiscard]] std::optional<std::size_t> finding_column(const std::vector<std::string>& header,
                                                        std::string_view finding);

/// Throws ConfigError if several columns of table `what` have the finding_key() of `label`, so that finding_column()
/// finds none. Of a label "column:value", only "column" is compared.
void refuse_ambiguous_column(const std::vector<std::string>& header, std::string_view what, const std::string& label);

/// Throws ConfigError if two labels have the same finding_key().
void check_distinct_findings(const std::vector<std::string>& labels);

}  // namespace roentgen::data
