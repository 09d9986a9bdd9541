// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Evaluates subgroups of images (one view, sex or age band) separately, and merges the images of one study.
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

/// Images that share the value of an attribute, such as the view.
struct Group {
  std::string name{};               ///< the shared value
  std::vector<std::size_t> rows{};  ///< indices of the images, ascending
};

/// Groups rows by value, in bytewise order of the values. Rows with an empty value form the last group, "unknown".
[[nodiscard]] std::vector<Group> group_rows(std::span<const std::string> values);

/// Returns the age group: "00-17", "18-39", "40-59", "60-79" or "80+" years; empty for NaN.
[[nodiscard]] std::string age_band(float years);

/// Returns the predictions for the images with indices `rows`.
[[nodiscard]] Predictions select_rows(const Predictions& predictions, std::span<const std::size_t> rows);

/// How the probabilities of the images of a study are combined.
enum class Aggregate : std::uint8_t { Max, Mean };
/// Returns the name, "max" or "mean".
[[nodiscard]] std::string_view name_of(Aggregate aggregate);
/// Parses "max" or "mean". Throws ConfigError for other texts.
[[nodiscard]] Aggregate parse_aggregate(std::string_view text);

/// Merges the images of each study to one row, named by the study, in order of first appearance. A label is true if it
/// is true for any image; else it is unknown if it is unknown for any image. Maxima of Exclusive outputs no longer sum
/// to 1, so they become Independent. Throws DataError for an empty study name and a study with two patients.
/// @param studies (N) study of each image, not empty
[[nodiscard]] Predictions merge_studies(const Predictions& predictions, std::span<const std::string> studies,
                                        Aggregate aggregate);

/// Evaluation of one group.
struct GroupTable {
  std::string name;  ///< attribute value that the images share
  EvalTable table;   ///< metrics on the images of the group
};

/// Evaluates each group separately. Intervals come from resamples of the group's own patients.
[[nodiscard]] std::vector<GroupTable> evaluate_groups(const Predictions& predictions,
                                                      std::span<const std::string> values,
                                                      const BootstrapOptions& options, const MetricRequest& request);

/// Returns a text table of the mean metrics of each group for a terminal. Ends with a newline.
/// @param attribute heading of the first column, such as "view"
[[nodiscard]] std::string groups_text(std::string_view attribute, const std::vector<GroupTable>& groups);

}  // namespace roentgen::eval
