// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parts of a set (one view, one sex, one age band) evaluated alone, and images of one study merged into one row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/predictions.h"
#include "eval/table.h"

namespace roentgen::eval {

/// Images that share a value.
struct Group {
  std::string name{};               ///< the value that they share
  std::vector<std::size_t> rows{};  ///< indices of the images, ascending
};

/// Rows by value, in bytewise order of the values; those with an empty value last, as "unknown".
[[nodiscard]] std::vector<Group> group_rows(std::span<const std::string> values);

/// "00-17", "18-39", "40-59", "60-79", "80+" years; empty for NaN.
[[nodiscard]] std::string age_band(float years);

/// The predictions of these rows.
[[nodiscard]] Predictions select_rows(const Predictions& predictions, std::span<const std::size_t> rows);

/// Rule that combines the probabilities of a study's images.
enum class Aggregate : std::uint8_t { Max, Mean };
/// "max", "mean".
[[nodiscard]] std::string_view name_of(Aggregate aggregate);
/// Parses a name; ConfigError naming the choices.
[[nodiscard]] Aggregate parse_aggregate(std::string_view text);

/// One row a study, in order of first appearance, named by its study. A label is true when it is of any of the images,
/// else unknown when it is of any. Maxima of Exclusive outputs sum to no 1, so they become Independent.
/// @param studies (N) not empty
/// DataError on an empty study and on a study with two patients.
[[nodiscard]] Predictions merge_studies(const Predictions& predictions, std::span<const std::string> studies,
                                        Aggregate aggregate);

/// The table of one group.
struct GroupTable {
  std::string name;  ///< value that the images share
  EvalTable table;   ///< figures of its images
};

/// Evaluates each group alone: intervals from resamples of its own patients.
[[nodiscard]] std::vector<GroupTable> evaluate_groups(const Predictions& predictions,
                                                      std::span<const std::string> values,
                                                      const BootstrapOptions& options, const MetricRequest& request);

/// Means by group, for a terminal. Ends with a newline.
/// @param attribute heads the first column: "view"
[[nodiscard]] std::string groups_text(std::string_view attribute, const std::vector<GroupTable>& groups);

}  // namespace roentgen::eval
