// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/subgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/error.h"
#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {

std::int8_t merged_label(std::int8_t a, std::int8_t b) {
  if (a == 1 || b == 1) return 1;
  return a == kUnknown || b == kUnknown ? kUnknown : std::int8_t{0};
}

std::string estimate_text(const Estimate& estimate) {
  if (!estimate.value) return "-";
  if (!estimate.interval) return fmt::format("{:.4f}", *estimate.value);
  return fmt::format("{:.4f} ({:.4f} - {:.4f})", *estimate.value, estimate.interval->low, estimate.interval->high);
}

}  // namespace

std::vector<Group> group_rows(std::span<const std::string> values) {
  std::map<std::string_view, std::vector<std::size_t>> known;
  Group unknown{.name = "unknown"};
  for (std::size_t i = 0; i < values.size(); ++i)
    (values[i].empty() || values[i] == unknown.name ? unknown.rows : known[values[i]]).push_back(i);
  std::vector<Group> groups;
  for (auto& [name, rows] : known) groups.push_back({.name = std::string(name), .rows = std::move(rows)});
  if (!unknown.rows.empty()) groups.push_back(std::move(unknown));
  return groups;
}

std::string age_band(float years) {
  if (std::isnan(years)) return {};
  if (years < 18.0F) return "00-17";
  if (years < 40.0F) return "18-39";
  if (years < 60.0F) return "40-59";
  return years < 80.0F ? "60-79" : "80+";
}

Predictions select_rows(const Predictions& predictions, std::span<const std::size_t> rows) {
  Predictions selected{.label_names = predictions.label_names, .outputs = predictions.outputs};
  const std::size_t K = predictions.label_names.size();
  for (const std::size_t row : rows) {
    selected.image_ids.push_back(predictions.image_ids.at(row));
    selected.patients.push_back(predictions.patients[row]);
    for (std::size_t i = row * K; i < (row + 1) * K; ++i) {
      selected.probabilities.push_back(predictions.probabilities[i]);
      selected.labels.push_back(predictions.labels[i]);
    }
  }
  return selected;
}

std::string_view name_of(Aggregate aggregate) { return aggregate == Aggregate::Max ? "max" : "mean"; }

Aggregate parse_aggregate(std::string_view text) {
  for (const Aggregate aggregate : {Aggregate::Max, Aggregate::Mean}) {
    if (text == name_of(aggregate)) return aggregate;
  }
  throw ConfigError(error_text("eval.study", "--aggregate", "max or mean", std::string(text), "one of max, mean"));
}

Predictions merge_studies(const Predictions& predictions, std::span<const std::string> studies, Aggregate aggregate) {
  RG_ASSERT(studies.size() == predictions.image_ids.size());
  const std::size_t K = predictions.label_names.size();
  const bool is_exclusive = predictions.outputs == Outputs::Exclusive && aggregate == Aggregate::Mean;
  Predictions merged{.label_names = predictions.label_names,
                     .outputs = is_exclusive ? Outputs::Exclusive : Outputs::Independent};
  std::unordered_map<std::string_view, std::size_t> index;
  std::vector<double> values;
  std::vector<double> images;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    if (studies[i].empty()) {
      throw DataError(error_text("eval.study", fmt::format("image {}", i + 1), "a study name", "no study name",
                                 "labels with a column study, or leaving out --by study"));
    }
    const auto [entry, is_new] = index.try_emplace(studies[i], index.size());
    const std::size_t study = entry->second;
    if (is_new) {
      merged.image_ids.push_back(studies[i]);
      merged.patients.push_back(predictions.patients[i]);
      merged.labels.resize(merged.labels.size() + K, 0);
      values.resize(values.size() + K, 0.0);
      images.push_back(0.0);
    }
    if (merged.patients[study] != predictions.patients[i]) {
      throw DataError(error_text("eval.study", fmt::format("image {}", i + 1), "one patient per study",
                                 "another patient than for the first image of the study",
                                 "study names that differ between patients"));
    }
    for (std::size_t k = 0; k < K; ++k) {
      const auto p = static_cast<double>(predictions.probabilities[i * K + k]);
      double& value = values[study * K + k];
      value = aggregate == Aggregate::Mean ? value + p : (is_new ? p : std::max(value, p));
      std::int8_t& label = merged.labels[study * K + k];
      label = is_new ? predictions.labels[i * K + k] : merged_label(label, predictions.labels[i * K + k]);
    }
    images[study] += 1.0;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    merged.probabilities.push_back(
        static_cast<float>(aggregate == Aggregate::Mean ? values[i] / images[i / K] : values[i]));
  }
  return merged;
}

std::vector<GroupTable> evaluate_groups(const Predictions& predictions, std::span<const std::string> values,
                                        const BootstrapOptions& options, const MetricRequest& request) {
  RG_ASSERT(values.size() == predictions.image_ids.size());
  std::vector<GroupTable> tables;
  for (const Group& group : group_rows(values)) {
    tables.push_back({.name = group.name, .table = evaluate(select_rows(predictions, group.rows), options, request)});
  }
  return tables;
}

std::string groups_text(std::string_view attribute, const std::vector<GroupTable>& groups) {
  if (groups.empty()) return {};
  const bool has_auprc = groups[0].table.find(Metric::Auprc) != nullptr;
  std::vector<TextRow> rows{{std::string(attribute), "images", "patients", "findings", "mean AUROC"}};
  if (has_auprc) rows[0].emplace_back("mean AUPRC");
  ReasonList none;
  for (const auto& [name, table] : groups) {
    TextRow& row = rows.emplace_back(TextRow{name, with_commas(table.images), with_commas(table.patients),
                                             fmt::format("{} of {}", table.labels_in_mean, table.labels.size()),
                                             estimate_text(table.mean)});
    if (has_auprc) row.push_back(estimate_text(table.find(Metric::Auprc)->mean));
    none.add(table.mean.no_interval, name);
  }
  return in_columns(std::move(rows), LastLine::Alike) + none.lines("No interval of the mean");
}

}  // namespace roentgen::eval
