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

/// "label,auc" with one row a label; empty where the AUROC is undefined.
[[nodiscard]] std::string aurocs_csv(const eval::EvalTable& table);

/// Reads aucs.csv: (label, AUROC), nullopt where undefined. DataError naming the file for any other form.
[[nodiscard]] std::vector<std::pair<std::string, std::optional<double>>> read_aurocs(const std::filesystem::path& path);

}  // namespace roentgen::train
