// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// aucs.csv of a run folder and of eval: the AUROC of every label.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::eval {
struct EvalTable;
}

namespace roentgen::train {

/// Returns the text of aucs.csv: header "label,auc", then one row per label. The AUROC is empty where it is undefined.
[[nodiscard]] std::string aurocs_csv(const eval::EvalTable& table);

/// Reads aucs.csv as pairs (label, AUROC); nullopt where the AUROC is undefined. Throws DataError naming the file if it
/// has any other form.
[[nodiscard]] std::vector<std::pair<std::string, std::optional<double>>> read_aurocs(const std::filesystem::path& path);

}  // namespace roentgen::train
