// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/seed_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/foreign_text.h"
#include "core/plural.h"
#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; }

Value value_of(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

bool is_whole(const SeedRow& row) {
  return std::ranges::all_of(row.values, [](const auto& value) { return value.has_value(); });
}

void summarise(SeedRow& row) {
  if (!is_whole(row)) return;
  const auto n = static_cast<double>(row.values.size());
  double sum = 0.0;
  for (const auto& value : row.values) sum += *value;
  row.mean = sum / n;
  if (row.values.size() < 2) return;
  double squares = 0.0;
  for (const auto& value : row.values) squares += (*value - *row.mean) * (*value - *row.mean);
  row.sd = std::sqrt(squares / (n - 1.0));
}

// Makes the row "mean": each seed's mean over the findings that are defined for all seeds.
SeedRow mean_row(const std::vector<SeedRow>& rows, std::size_t seeds) {
  SeedRow mean{.label = "mean", .values = {}, .mean = {}, .sd = {}};
  const auto count = std::ranges::count_if(rows, is_whole);
  for (std::size_t i = 0; i < seeds; ++i) {
    double sum = 0.0;
    for (const SeedRow& row : rows) sum += is_whole(row) ? *row.values[i] : 0.0;
    mean.values.push_back(count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count)));
  }
  return mean;
}

}  // namespace

SeedTable make_seed_table(const std::vector<SeedAurocs>& runs) {
  RG_ASSERT(!runs.empty());
  SeedTable table;
  for (const auto& [label, ignored] : runs.front().labels) {
    table.rows.push_back({.label = label, .values = {}, .mean = {}, .sd = {}});
  }
  for (const SeedAurocs& run : runs) {
    table.seeds.push_back(run.seed);
    if (run.labels.size() != table.rows.size()) {
      throw DataError(error_text("cli.seeds", fmt::format("seed {}", run.seed),
                                 counted(std::ssize(table.rows), "label") + ", as for the first seed",
                                 fmt::to_string(run.labels.size()), "runs with the same recipe and data set"));
    }
    for (SeedRow& row : table.rows) {
      const auto found = std::ranges::find(run.labels, row.label, [](const auto& entry) { return entry.first; });
      if (found == run.labels.end()) {
        throw DataError(error_text("cli.seeds", fmt::format("seed {}", run.seed), "the label " + row.label,
                                   "no such label", "runs with the same recipe and data set"));
      }
      row.values.push_back(found->second);
    }
  }
  table.rows.push_back(mean_row(table.rows, runs.size()));
  for (SeedRow& row : table.rows) summarise(row);
  return table;
}

std::string to_text(const SeedTable& table) {
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.4f}", *value) : "-"; };
  std::vector<TextRow> rows{{"finding", "mean", "sd"}};
  for (const std::int64_t seed : table.seeds) rows[0].push_back(fmt::format("seed {}", seed));
  for (const SeedRow& row : table.rows) {
    TextRow& cells = rows.emplace_back(TextRow{row.label, number(row.mean), number(row.sd)});
    std::ranges::transform(row.values, std::back_inserter(cells), number);
  }
  return in_columns(std::move(rows), LastLine::Apart) +
         fmt::format(
             "Validation AUROC of each seed's best epoch, mean and standard deviation over {}: what another seed "
             "would change, no interval over patients (roentgen compare has those).\n",
             counted(std::ssize(table.seeds), "seed"));
}

std::string to_csv(const SeedTable& table) {
  std::string text = "label,mean,sd";
  for (const std::int64_t seed : table.seeds) text += fmt::format(",seed_{}", seed);
  text += "\n";
  for (const SeedRow& row : table.rows) {
    text += csv_field(row.label) + "," + csv_number(row.mean) + "," + csv_number(row.sd);
    for (const auto& value : row.values) text += "," + csv_number(value);
    text += "\n";
  }
  return text;
}

Value to_value(const SeedTable& table) {
  Value root = Value::table();
  for (const SeedRow& row : table.rows) {
    Value values = Value::array();
    for (const auto& value : row.values) values.push_back(value_of(value));
    root.set(row.label, Value::Table{{"mean", value_of(row.mean)}, {"sd", value_of(row.sd)}, {"values", values}});
  }
  return root;
}

}  // namespace roentgen::eval
