// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/aurocs_csv.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/foreign_text.h"
#include "eval/table.h"
#include "io/csv.h"

namespace roentgen::train {

std::string aurocs_csv(const eval::EvalTable& table) {
  std::string text = "label,auc\n";
  for (const eval::LabelResult& row : table.labels) {
    text += csv_field(row.label) + "," + (row.auroc.value ? fmt::format("{:.9g}", *row.auroc.value) : "") + "\n";
  }
  return text;
}

std::vector<std::pair<std::string, std::optional<double>>> read_aurocs(const std::filesystem::path& path) {
  const io::Csv table = io::read_csv(path).or_throw();
  const auto refuse = [&](std::string_view got) {
    throw DataError(error_text("train.aurocs", path.string(), "the columns label,auc of roentgen train", got,
                               "training the run again"));
  };
  if (table.header != std::vector<std::string>{"label", "auc"}) refuse("other columns");
  std::vector<std::pair<std::string, std::optional<double>>> aurocs;
  for (const auto& row : table.rows) {
    if (row.size() != 2) refuse("a row with another number of values");
    std::optional<double> value;
    if (!row[1].empty()) {
      const char* end = row[1].data() + row[1].size();
      double parsed = 0.0;
      const auto [reached, error] = std::from_chars(row[1].data(), end, parsed);
      if (error != std::errc() || reached != end || !(parsed >= 0.0 && parsed <= 1.0)) refuse("\"" + row[1] + "\"");
      value = parsed;
    }
    aurocs.emplace_back(row[0], value);
  }
  return aurocs;
}

}  // namespace roentgen::train
