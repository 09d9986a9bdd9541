// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The 14 label columns that CheXpert and MIMIC-CXR-JPG have alike: 1.0, 0.0, -1.0 (uncertain) or nothing (unmentioned).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Findings in CheXpert's order.
inline constexpr std::array<std::string_view, 14> kChexpertFindings{"No Finding",       "Enlarged Cardiomediastinum",
                                                                    "Cardiomegaly",     "Lung Opacity",
                                                                    "Lung Lesion",      "Edema",
                                                                    "Consolidation",    "Pneumonia",
                                                                    "Atelectasis",      "Pneumothorax",
                                                                    "Pleural Effusion", "Pleural Other",
                                                                    "Fracture",         "Support Devices"};

/// The labels asked for, or all 14 in CheXpert's order.
[[nodiscard]] std::vector<std::string> chexpert_label_names(const SourceOptions& options);

/// Reads the labels of one table's rows. A label is a column, by its name or another name of the finding ("Effusion").
/// The labeller of Irvin et al. 2019 writes "No Finding" only when it met no other finding. So where "No Finding" is 1,
/// all blanks but Support Devices are 0. Where another finding is 1, a blank "No Finding" is 0. The policies decide on
/// other blanks and on -1.
class ChexpertLabels {
 public:
  /// ConfigError when a label has no column (unless labels may be unknown), or two have one. `options` outlive it;
  /// `what` is the table, for errors.
  ChexpertLabels(const std::vector<std::string>& header, const SourceOptions& options,
                 const std::vector<std::string>& labels, std::string_view what);
  /// (K); DataError naming `where` for a field that is no label.
  [[nodiscard]] std::vector<float> read(const std::vector<std::string>& row, std::string_view where) const;

 private:
  struct Column {
    std::string name;
    /// Index of the column; nullopt: the table does not have it.
    std::optional<std::size_t> column;
    LabelPolicy policy;
  };
  std::vector<Column> columns_;
  std::optional<std::size_t> no_finding_, support_devices_;
  /// Columns of findings that contradict "No Finding".
  std::vector<std::size_t> findings_;
};

}  // namespace roentgen::data
