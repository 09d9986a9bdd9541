// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// aucs.csv of a run folder and of eval: the AUROC of every label.
#pragma once

#include <string>

namespace roentgen::eval {
struct EvalTable;
}

namespace roentgen::train {

/// "label,auc" with one row a label; empty where the AUROC is undefined.
[[nodiscard]] std::string aurocs_csv(const eval::EvalTable& table);

}  // namespace roentgen::train
