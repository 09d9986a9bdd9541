// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {

// Published columns. Wang, Yao and CheXNet tested on their own random splits, which were never published. The most
// similar list is the random test list that later papers use. The other authors tested on that list.
constexpr std::array kColumns{
    PublishedColumn{
        .title = "Wang 2017",
        .is_own_split = true,
        .source = "arXiv 1705.02315",
        .auroc = {0.716, 0.807, 0.784, 0.609, 0.706, 0.671, 0.633, 0.806, 0.708, 0.835, 0.815, 0.769, 0.708, 0.767}},
    PublishedColumn{
        .title = "Yao 2017",
        .is_own_split = true,
        .source = "arXiv 1710.10501",
        .auroc = {0.772, 0.904, 0.859, 0.695, 0.792, 0.717, 0.713, 0.841, 0.788, 0.882, 0.829, 0.767, 0.765, 0.914}},
    PublishedColumn{.title = "CheXNet",
                    .is_own_split = true,
                    .source = "arXiv 1711.05225",
                    .auroc = {0.8094, 0.9248, 0.8638, 0.7345, 0.8676, 0.7802, 0.7680, 0.8887, 0.7901, 0.8878, 0.9371,
                              0.8047, 0.8062, 0.9164}},
    PublishedColumn{.title = "arnoweng",
                    .source = "arnoweng/CheXNet, README",
                    .auroc = {0.8294, 0.9165, 0.8870, 0.7143, 0.8597, 0.7873, 0.7745, 0.8726, 0.8142, 0.8932, 0.9254,
                              0.8304, 0.7831, 0.9104}},
    PublishedColumn{.title = "arnoweng+",
                    .source = "arnoweng/CheXNet, README",
                    .auroc = {0.8311, 0.9220, 0.8891, 0.7146, 0.8627, 0.7883, 0.7820, 0.8844, 0.8148, 0.8992, 0.9343,
                              0.8385, 0.7914, 0.9206}},
    PublishedColumn{.title = "zoogzog",
                    .source = "zoogzog/chexnet, README",
                    .auroc = {0.8321, 0.9107, 0.8860, 0.7145, 0.8653, 0.8037, 0.7655, 0.8857, 0.8157, 0.9017, 0.9422,
                              0.8523, 0.7948, 0.9416}},
    PublishedColumn{.title = "jrzech 2022",
                    .source = "jrzech/reproduce-chexnet, README and aucs.csv",
                    .auroc = {0.8180, 0.9090, 0.8827, 0.7156, 0.8377, 0.7756, 0.7617, 0.8776, 0.8002, 0.8945, 0.9316,
                              0.8251, 0.7889, 0.9175}},
    PublishedColumn{.title = "jrzech 2018",
                    .source = "jrzech/reproduce-chexnet, README and aucs.csv",
                    .auroc = {0.8161, 0.9105, 0.8839, 0.7077, 0.8308, 0.7748, 0.7651, 0.8739, 0.8008, 0.8979, 0.9227,
                              0.8293, 0.7860, 0.9010}},
};

// Share of images with each finding in percent, counted on a known list of test images.
struct Prevalence {
  std::string_view list;
  std::array<double, 14> percent;
};
constexpr std::array kPrevalences{
    Prevalence{"nih-official-test", {12.8, 4.2, 18.2, 23.9, 6.8, 6.3, 2.2, 10.4, 7.1, 3.6, 4.3, 1.7, 4.5, 0.3}},
    Prevalence{"nih-community-test", {10.8, 2.6, 12.3, 17.6, 5.1, 6.0, 1.1, 4.9, 4.3, 1.8, 2.3, 1.6, 3.3, 0.2}}};
// Tolerance for the prevalence in percentage points. Versions of the labels differ by up to 0.1, and rounding by 0.05.
constexpr double kTolerancePercent = 0.5;

const LabelResult* find_label(const EvalTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.labels, name, &LabelResult::label);
  return found == table.labels.end() ? nullptr : &*found;
}

bool is_of_list(const EvalTable& table, const KnownList& list) {
  const auto prevalence = std::ranges::find(kPrevalences, list.id, &Prevalence::list);
  if (prevalence == kPrevalences.end() || table.images != list.images) return false;
  for (std::size_t i = 0; i < kPublishedFindings.size(); ++i) {
    const LabelResult* label = find_label(table, kPublishedFindings[i]);
    if (label == nullptr || label->n != list.images) return false;
    const double percent = 100.0 * static_cast<double>(label->positives) / static_cast<double>(label->n);
    if (std::abs(percent - prevalence->percent[i]) > kTolerancePercent) return false;
  }
  return true;
}

// Returns the mean of our AUROC over the 14 findings; nullopt unless all are defined.
std::optional<double> mean_of(const EvalTable& table) {
  double sum = 0.0;
  for (const std::string_view finding : kPublishedFindings) {
    const LabelResult* label = find_label(table, finding);
    if (label == nullptr || !label->auroc.value) return std::nullopt;
    sum += *label->auroc.value;
  }
  return sum / static_cast<double>(kPublishedFindings.size());
}

std::string value_text(const std::optional<double>& value) { return value ? fmt::format("{:.4f}", *value) : "-"; }

std::string verdict_text(const EvalTable& table, const PublishedColumn& column) {
  const Verdict v = verdict(table, column);
  return fmt::format("above {} in {} of {}, interval excludes 0 in {}; below in {}, interval excludes 0 in {}\n",
                     column.title, v.above, v.findings, v.clearly_above, v.below, v.clearly_below);
}

}  // namespace

double PublishedColumn::mean() const {
  return std::accumulate(auroc.begin(), auroc.end(), 0.0) / static_cast<double>(auroc.size());
}

std::span<const PublishedColumn> published_columns() { return kColumns; }

std::vector<PublishedColumn> columns_beside(const EvalTable& table, const KnownList* list) {
  std::vector<PublishedColumn> columns;
  if (list == nullptr || !is_of_list(table, *list)) return columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns),
                       [&](const PublishedColumn& column) { return column.list == list->id; });
  return columns;
}

Verdict verdict(const EvalTable& table, const PublishedColumn& column) {
  Verdict result;
  for (std::size_t i = 0; i < kPublishedFindings.size(); ++i) {
    const LabelResult* label = find_label(table, kPublishedFindings[i]);
    if (label == nullptr || !label->auroc.value) continue;
    ++result.findings;
    const double theirs = column.auroc[i];
    const std::optional<Interval>& interval = label->auroc.interval;
    if (*label->auroc.value > theirs) {
      ++result.above;
      result.clearly_above += interval && interval->low > theirs ? 1 : 0;
    } else if (*label->auroc.value < theirs) {
      ++result.below;
      result.clearly_below += interval && interval->high < theirs ? 1 : 0;
    }
  }
  return result;
}

std::string published_text(const EvalTable& table, const std::vector<PublishedColumn>& columns) {
  if (columns.empty()) return {};
  std::vector<TextRow> rows{{"finding", "this model"}};
  for (std::size_t i = 0; i < kPublishedFindings.size(); ++i) {
    const LabelResult* label = find_label(table, kPublishedFindings[i]);
    TextRow& row = rows.emplace_back(TextRow{std::string(kPublishedFindings[i])});
    row.push_back(label == nullptr ? "-" : value_text(label->auroc.value));
    for (const PublishedColumn& column : columns) row.push_back(value_text(column.auroc[i]));
  }
  TextRow& means = rows.emplace_back(TextRow{"mean", value_text(mean_of(table))});
  std::string verdicts;
  bool has_own = false;
  for (const PublishedColumn& column : columns) {
    rows[0].push_back(std::string(column.title) + (column.is_own_split ? " *" : ""));
    means.push_back(value_text(column.mean()));
    verdicts += verdict_text(table, column);
    has_own = has_own || column.is_own_split;
  }
  std::string text = "Published on this list:\n" + in_columns(std::move(rows), LastLine::Apart) + verdicts;
  if (has_own) text += "* own random split, never published: nearest in kind, not the same images.\n";
  return text + "Intervals are of this model's AUROC; published figures are taken as exact.\n";
}

Value published_value(const EvalTable& table, const std::vector<PublishedColumn>& columns) {
  Value root = Value::table();
  const std::optional<double> mean = mean_of(table);
  for (const PublishedColumn& column : columns) {
    const Verdict v = verdict(table, column);
    Value deltas = Value::table();
    for (std::size_t i = 0; i < kPublishedFindings.size(); ++i) {
      const LabelResult* label = find_label(table, kPublishedFindings[i]);
      const bool is_defined = label != nullptr && label->auroc.value.has_value();
      deltas.set(kPublishedFindings[i], is_defined ? Value(*label->auroc.value - column.auroc[i]) : Value());
    }
    root.set(column.title, Value::Table{{"source", column.source},
                                        {"own_split", column.is_own_split},
                                        {"mean", column.mean()},
                                        {"mean_delta", mean ? Value(*mean - column.mean()) : Value()},
                                        {"findings", v.findings},
                                        {"above", v.above},
                                        {"clearly_above", v.clearly_above},
                                        {"below", v.below},
                                        {"clearly_below", v.clearly_below},
                                        {"delta", deltas}});
  }
  return root;
}

}  // namespace roentgen::eval
