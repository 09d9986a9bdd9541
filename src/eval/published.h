// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Published results on ChestX-ray14, shown only next to a result on exactly the same list of images. Lists differ by
// 0.03 in mean AUROC, which is more than most models differ.
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

/// The findings of ChestX-ray14 in CheXNet's order.
inline constexpr std::array<std::string_view, 14> kPublishedFindings{
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};

/// Column of published results.
struct PublishedColumn {
  std::string_view title;  ///< heading of the column
  /// Id of the KnownList beside which it may stand.
  std::string_view list = "nih-community-test";
  /// Whether its test images were another random split, never published. Every table with the column says so.
  bool is_own_split = false;
  std::string_view source;  ///< publication
  /// AUROC by kPublishedFindings.
  std::array<double, 14> auroc{};

  [[nodiscard]] double mean() const;  ///< mean over the 14 findings
};

/// All columns. To add one, add a line in published.cpp.
[[nodiscard]] std::span<const PublishedColumn> published_columns();

/// Columns that may be shown next to `table`, whose images are those of `list` (null: no known list). Conditions: the
/// list is theirs, the table has one row an image, and all 14 findings of every image are known. Each finding must also
/// be as frequent as on that list within half a percentage point. So neither synthetic images under the list's names
/// nor other labels pass.
[[nodiscard]] std::vector<PublishedColumn> columns_beside(const EvalTable& table, const KnownList* list);

/// Comparison of a table with a column. The interval is that of our value; a published value is a number without error.
struct Verdict {
  std::int64_t findings = 0;  ///< findings compared
  std::int64_t above = 0;     ///< findings in which ours is higher
  /// Findings above whose interval of the difference excludes 0.
  std::int64_t clearly_above = 0;
  std::int64_t below = 0;          ///< findings in which ours is lower
  std::int64_t clearly_below = 0;  ///< findings below whose interval excludes 0
  friend bool operator==(const Verdict&, const Verdict&) = default;
};
/// Compares the findings that both have.
[[nodiscard]] Verdict verdict(const EvalTable& table, const PublishedColumn& column);

/// The table next to the columns, a verdict a column ("above CheXNet in 10 of 14, interval excludes 0 in 6"), and the
/// footnotes. Empty without columns. Ends with a newline.
[[nodiscard]] std::string published_text(const EvalTable& table, const std::vector<PublishedColumn>& columns);

/// {title: {"source", "own_split", "mean", "mean_delta", "above", "clearly_above", "below", "clearly_below",
/// "findings", "delta": {finding: number}}}
[[nodiscard]] Value published_value(const EvalTable& table, const std::vector<PublishedColumn>& columns);

}  // namespace roentgen::eval
