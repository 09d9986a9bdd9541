// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// How the AUROC table looks on a terminal.
#include "eval/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace roentgen::eval {
namespace {
constexpr std::size_t kAurocWidth = 7;
constexpr std::size_t kIntervalWidth = 17;
constexpr std::size_t kCountWidth = 10;

// 25596 -> "25,596"
std::string with_commas(std::int64_t count) {
  std::string digits = std::to_string(count);
  for (auto i = std::ssize(digits) - 3; i > 0; i -= 3) digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::string interval_text(const Estimate& estimate) {
  if (!estimate.interval) return "-";
  return fmt::format("{:.4f} - {:.4f}", estimate.interval->low, estimate.interval->high);
}

std::string value_text(const Estimate& estimate) {
  return estimate.value ? fmt::format("{:.4f}", *estimate.value) : "-";
}

// Characters, not bytes: label names can be UTF-8.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string left_aligned(const std::string& text, std::size_t width) {
  const std::size_t shown = display_width(text);
  return text + std::string(width > shown ? width - shown : 0, ' ');
}

std::string method_text(const EvalTable& table) {
  if (table.bootstrap.replicates == 0) return "No intervals: 0 bootstrap replicates.\n";
  if (table.patients < 2) return "No intervals: they need two patients or more.\n";
  return fmt::format("{:g}% intervals: percentile bootstrap over {} patients, {} replicates, seed {}.\n",
                     100.0 * table.bootstrap.level, with_commas(table.patients),
                     with_commas(table.bootstrap.replicates), table.bootstrap.seed);
}

std::string left_out_text(const std::string& name, const Estimate& estimate, const EvalTable& table) {
  if (estimate.replicates_left_out == 0) return {};
  return fmt::format("{}: undefined in {} of {} replicates, which are left out of its interval.\n", name,
                     with_commas(estimate.replicates_left_out), with_commas(table.bootstrap.replicates));
}

std::string undefined_text(const EvalTable& table) {
  std::string names;
  for (const LabelResult& result : table.labels) {
    if (!result.auroc.value) names += (names.empty() ? "" : ", ") + result.label;
  }
  if (names.empty()) return {};
  return "Undefined, because only one class is present, and left out of the mean: " + names + ".\n";
}
}  // namespace

std::string to_text(const EvalTable& table) {
  const std::string mean_name = fmt::format("mean over {} of {}", table.labels_in_mean, table.labels.size());
  std::size_t width = mean_name.size();
  for (const LabelResult& result : table.labels) width = std::max(width, display_width(result.label));

  std::string text;
  const auto row = [&](const std::string& name, const std::string& value, const std::string& interval) {
    fmt::format_to(std::back_inserter(text), "{}  {:>{}}  {:>{}}", left_aligned(name, width), value, kAurocWidth,
                   interval, kIntervalWidth);
  };
  const auto counts = [&](const std::string& positives, const std::string& n) {
    fmt::format_to(std::back_inserter(text), "  {:>{}}  {:>{}}\n", positives, kCountWidth, n, kCountWidth);
  };
  const std::string rule(width + kAurocWidth + kIntervalWidth + 2 * kCountWidth + 8, '-');

  row("finding", "AUROC", fmt::format("{:g}% interval", 100.0 * table.bootstrap.level));
  counts("positives", "n");
  text += rule + "\n";
  for (const LabelResult& result : table.labels) {
    row(result.label, value_text(result.auroc), interval_text(result.auroc));
    counts(with_commas(result.positives), with_commas(result.n));
  }
  text += rule + "\n";
  row(mean_name, value_text(table.mean), interval_text(table.mean));
  text += "\n";
  text += undefined_text(table);
  text += method_text(table);
  for (const LabelResult& result : table.labels) text += left_out_text(result.label, result.auroc, table);
  text += left_out_text("mean", table.mean, table);
  return text;
}

}  // namespace roentgen::eval
