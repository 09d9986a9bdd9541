// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Label columns shared by CheXpert and MIMIC-CXR-JPG: 14 findings as 1.0, 0.0, -1.0 (uncertain) or blank (not
// mentioned).
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

/// Returns the requested labels, or all 14 in CheXpert's order if none are requested.
[[nodiscard]] std::vector<std::string> chexpert_label_names(const SourceOptions& options);

/// Reads the labels of one table's rows. A label is a column with its name or another name of the finding ("Effusion").
/// The labeller of Irvin et al. 2019 writes "No Finding" only if it found nothing else. So if "No Finding" is 1, all
/// blanks except Support Devices become 0. If another finding is 1, a blank "No Finding" becomes 0. The label policies
/// decide about other blanks and -1.
class ChexpertLabels {
 public:
  /// Finds the column of each label. Throws ConfigError if a label has no column (unless options allow unknown labels)
  /// or if two labels share one. `options` must outlive the object; `what` names the table in errors.
  ChexpertLabels(const std::vector<std::string>& header, const SourceOptions& options,
                 const std::vector<std::string>& labels, std::string_view what);
  /// Returns the labels (K) of a row. Throws DataError that names `where` if a field is no valid label.
  [[nodiscard]] std::vector<float> read(const std::vector<std::string>& row, std::string_view where) const;

 private:
  struct Column {
    std::string name;
    /// Index of the column; nullopt if the table has none.
    std::optional<std::size_t> column;
    LabelPolicy policy;
  };
  std::vector<Column> columns_;
  std::optional<std::size_t> no_finding_, support_devices_;
  /// Columns of findings. If one is positive, "No Finding" must be 0.
  std::vector<std::size_t> findings_;
};

}  // namespace roentgen::data
