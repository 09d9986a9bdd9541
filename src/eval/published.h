// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Published results on ChestX-ray14, shown only next to a result on exactly the same list of images. The same model
// differs by 0.03 in mean AUROC between lists, which is more than most models differ on one list.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/split_list.h"
#include "eval/table.h"

namespace roentgen::eval {

/// Findings of ChestX-ray14, in the order of the CheXNet paper.
inline constexpr std::array<std::string_view, 14> kPublishedFindings{
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};

/// Published results of one model, for a column of a table.
struct PublishedColumn {
  std::string_view title;  ///< heading of the column
  /// Id of the KnownList of test images that the results are comparable to.
  std::string_view list = "nih-community-test";
  /// True if the authors tested on their own random split, which was never published. Tables with this column say so.
  bool is_own_split = false;
  std::string_view source;  ///< publication that contains the results
  /// AUROCs, in the order of kPublishedFindings.
  std::array<double, 14> auroc{};

  [[nodiscard]] double mean() const;  ///< mean over the 14 findings
};

/// Returns all published results. published.cpp lists them.
[[nodiscard]] std::span<const PublishedColumn> published_columns();

/// Returns the columns that may be shown next to `table`, which evaluates the images of `list` (null if not a known
/// list). The column must be comparable to this list. The table must have one row per image and all 14 findings known
/// for every image. Each finding's prevalence must match the list's within half a percentage point. This excludes
/// synthetic images with the names of the list, and other versions of the labels.
[[nodiscard]] std::vector<PublishedColumn> columns_beside(const EvalTable& table, const KnownList* list);

/// Comparison of a table with a published column. Only our value has an interval; the published value is treated as
/// exact.
struct Verdict {
  std::int64_t findings = 0;  ///< number of findings compared
  std::int64_t above = 0;     ///< number of findings in which our AUROC is higher
  /// Number of these findings whose interval of the difference excludes 0.
  std::int64_t clearly_above = 0;
  std::int64_t below = 0;          ///< number of findings in which our AUROC is lower
  std::int64_t clearly_below = 0;  ///< number of these findings whose interval of the difference excludes 0
  friend bool operator==(const Verdict&, const Verdict&) = default;
};
/// Compares the findings that `table` and `column` have in common.
[[nodiscard]] Verdict verdict(const EvalTable& table, const PublishedColumn& column);

/// Text with the table next to the published columns, followed by footnotes. A verdict per column says, for example,
/// "above CheXNet in 10 of 14, interval excludes 0 in 6". Empty without columns. Ends with a newline.
[[nodiscard]] std::string published_text(const EvalTable& table, const std::vector<PublishedColumn>& columns);

/// Returns the comparison for JSON: {title: {"source", "own_split", "mean", "mean_delta", "above", "clearly_above",
/// "below", "clearly_below", "findings", "delta": {finding: number}}}.
[[nodiscard]] Value published_value(const EvalTable& table, const std::vector<PublishedColumn>& columns);

}  // namespace roentgen::eval
