// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/run_summary.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/foreign_text.h"
#include "eval/text_columns.h"

namespace roentgen::cli {

std::string finding_table(const std::vector<std::pair<std::string, std::optional<double>>>& aurocs) {
  std::vector<eval::TextRow> rows{{"finding", "validation AUROC"}};
  double sum = 0.0;
  std::int64_t defined = 0;
  for (const auto& [label, auroc] : aurocs) {
    rows.push_back({label, auroc ? fmt::format("{:.4f}", *auroc) : "-"});
    if (!auroc) continue;
    sum += *auroc;
    ++defined;
  }
  if (defined < 2) return eval::in_columns(std::move(rows), eval::LastLine::Alike);
  rows.push_back({"mean", fmt::format("{:.4f}", sum / static_cast<double>(defined))});
  return eval::in_columns(std::move(rows), eval::LastLine::Apart);
}

std::string next_command(const std::filesystem::path& checkpoint, const std::vector<std::string>& data,
                         bool has_test_images) {
  const std::string weights = shell_word(checkpoint.string());
  if (!has_test_images) return fmt::format("next: roentgen predict --checkpoint {} IMAGES\n", weights);
  std::string line = fmt::format("next: roentgen eval --checkpoint {}", weights);
  for (const std::string& folder : data) line += fmt::format(" --data {}", shell_word(folder));
  return line + " --split test\n";
}

}  // namespace roentgen::cli
