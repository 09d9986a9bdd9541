// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/aurocs_csv.h"

#include <fmt/format.h>

#include "core/foreign_text.h"
#include "eval/table.h"

namespace roentgen::train {

std::string aurocs_csv(const eval::EvalTable& table) {
  std::string text = "label,auc\n";
  for (const eval::LabelResult& row : table.labels) {
    text += csv_field(row.label) + "," + (row.auroc.value ? fmt::format("{:.9g}", *row.auroc.value) : "") + "\n";
  }
  return text;
}

}  // namespace roentgen::train
