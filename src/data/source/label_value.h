// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a field of a label table to 1, 0 or NaN, according to the policy for blanks and -1.
#pragma once

#include <optional>
#include <string_view>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Values that a label field can have.
enum class LabelValue : std::uint8_t { Positive, Negative, Uncertain, Empty };

/// Reads a field, ignoring case.
///   Positive: 1, true, yes, y, positive, pos.  Negative: 0, false, no, n, negative, neg.
///   Uncertain: -1, u, uncertain.  Empty: an empty text, nan, na, n/a, none, null, unknown.
/// Numbers may have any form (1.0, -1.00). Returns nullopt for other texts.
[[nodiscard]] std::optional<LabelValue> parse_label_value(std::string_view text);

/// Converts a label value to 1, 0 or NaN (unknown), according to the policy.
[[nodiscard]] float label_number(LabelValue value, const LabelPolicy& policy);

/// Returns the policy for one label: its entry in label_policies (by any name of the finding), else the general policy.
[[nodiscard]] LabelPolicy policy_of(const SourceOptions& options, std::string_view label);

/// Throws ConfigError if there is a policy for a label outside `labels`, unless options allow unknown labels.
void check_label_policies(const SourceOptions& options, const std::vector<std::string>& labels);

}  // namespace roentgen::data
