// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formats a comparison as text for a terminal, as CSV and as a JSON tree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/foreign_text.h"
#include "core/plural.h"
#include "eval/comparison.h"
#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {

constexpr double kUsualLevel = 0.05;

std::string number_text(const std::optional<double>& value, std::string_view form) {
  return value ? fmt::format(fmt::runtime(form), *value) : "-";
}

std::string interval_text(const Estimate& estimate) {
  if (!estimate.interval) return "-";
  return fmt::format("{:+.4f} to {:+.4f}", estimate.interval->low, estimate.interval->high);
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; }

// Formats a row of CSV, quoted as in RFC 4180.
std::string csv_row(const Difference& row) {
  const auto& interval = row.delta.interval;
  return fmt::format("{},{},{},{},{},{},{}", csv_field(row.label), csv_number(row.a.value), csv_number(row.b.value),
                     csv_number(row.delta.value), interval ? csv_number(interval->low) : "",
                     interval ? csv_number(interval->high) : "", csv_number(row.p));
}

Value row_value(const Difference& row) {
  Value value = Value::table();
  for (const auto& [key, estimate] : {std::pair{"a", &row.a}, {"b", &row.b}, {"delta", &row.delta}}) {
    add_gaps(value.set(key, estimate_value(*estimate, "value")), *estimate);
  }
  value.set("p", row.p ? Value(*row.p) : Value());
  if (row.sd_a) value.set("sd_a", Value(*row.sd_a));
  if (row.sd_b) value.set("sd_b", Value(*row.sd_b));
  if (row.dof) value.set("dof", std::isfinite(*row.dof) ? Value(*row.dof) : Value());
  return value;
}

std::string seeds_text(std::int64_t count) { return count == 1 ? "one seed" : fmt::format("{} seeds", count); }

std::string seed_method_text(const Comparison& comparison) {
  return fmt::format(
      "{:g}% intervals and p are of recipes, over seeds and patients: {} of A, {} of B, {} patients; variance between "
      "seeds and what seeds share by patients ({} paired bootstrap {}, seed {}), Student's t (Obuchowski & "
      "Rockette 1995, Hillis 2007).\n"
      "A and B are means over seeds, sd A and sd B the spread of one seed; p two-sided",
      100.0 * comparison.bootstrap.level, seeds_text(comparison.seeds_a), seeds_text(comparison.seeds_b),
      with_commas(comparison.patients), with_commas(comparison.bootstrap.replicates),
      plural(comparison.bootstrap.replicates, "replicate"), comparison.bootstrap.seed);
}

std::string patient_method_text(const Comparison& comparison) {
  return fmt::format(
      "{:g}% intervals: paired percentile bootstrap over {} patients, {} {}, seed {}: A and B are scored on "
      "the same resamples.\n"
      "They cover patients, not seeds ({} of A, {} of B): another seed gives other weights. To compare "
      "recipes, train two or more seeds of each, better three to five: roentgen compare A1,A2,A3 B1,B2,B3.\n"
      "p: two-sided, 2 (1 + the rarer side's replicates) / (1 + those in which it is defined), so never below {:.2g}",
      100.0 * comparison.bootstrap.level, with_commas(comparison.patients),
      with_commas(comparison.bootstrap.replicates), plural(comparison.bootstrap.replicates, "replicate"),
      comparison.bootstrap.seed, seeds_text(comparison.seeds_a), seeds_text(comparison.seeds_b),
      2.0 / (static_cast<double>(comparison.bootstrap.replicates) + 1.0));
}

std::string method_text(const Comparison& comparison) {
  if (comparison.bootstrap.replicates == 0) return "No intervals: 0 bootstrap replicates.\n";
  if (comparison.patients < 2) return "No intervals: they need two patients or more.\n";
  const auto tested = std::ranges::count_if(comparison.labels, [](const Difference& row) { return row.p.has_value(); });
  const std::string method = comparison.covers_seeds() ? seed_method_text(comparison) : patient_method_text(comparison);
  if (tested < 2) return method + ".\n";
  return method + fmt::format("; not corrected for {} findings, of which {:.1f} would have p < {:g} by chance alone.\n",
                              tested, kUsualLevel * static_cast<double>(tested), kUsualLevel);
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  std::vector<TextRow> rows{
      {"finding", "A", "B", "B - A", fmt::format("{:g}% interval", 100.0 * comparison.bootstrap.level), "p"}};
  if (comparison.seeds_a > 1) rows[0].emplace_back("sd A");
  if (comparison.seeds_b > 1) rows[0].emplace_back("sd B");
  rows[0].insert(rows[0].end(), {"positives", "n"});
  std::string undefined;
  std::string gaps;
  ReasonList none;
  const auto add = [&](const std::string& name, const Difference& row, const std::string& positives,
                       const std::string& n) {
    TextRow& cells = rows.emplace_back(
        TextRow{name, number_text(row.a.value, "{:.4f}"), number_text(row.b.value, "{:.4f}"),
                number_text(row.delta.value, "{:+.4f}"), interval_text(row.delta), number_text(row.p, "{:.4f}")});
    if (comparison.seeds_a > 1) cells.push_back(number_text(row.sd_a, "{:.4f}"));
    if (comparison.seeds_b > 1) cells.push_back(number_text(row.sd_b, "{:.4f}"));
    cells.insert(cells.end(), {positives, n});
    none.add(row.delta.no_interval, row.label);
    if (row.delta.interval && row.delta.replicates_left_out > 0) {
      gaps += fmt::format("{}: undefined in {} {} left out.\n", terminal_text(row.label),
                          with_commas(row.delta.replicates_left_out),
                          plural(row.delta.replicates_left_out, "replicate, which is", "replicates, which are"));
    }
  };
  for (const Difference& row : comparison.labels) {
    add(row.label, row, with_commas(row.positives), with_commas(row.n));
    if (!row.delta.value) undefined += (undefined.empty() ? "" : ", ") + terminal_text(row.label);
  }
  add(fmt::format("mean over {} of {}", comparison.labels_in_mean, comparison.labels.size()), comparison.mean, "", "");
  std::string text = in_columns(std::move(rows), LastLine::Apart);
  if (!undefined.empty()) {
    text += "Undefined, because only one class is present, and left out of the mean: " + undefined + ".\n";
  }
  return text + method_text(comparison) + gaps + none.lines("No interval and no p");
}

std::string to_csv(const Comparison& comparison) {
  std::string text = "label,auroc_a,auroc_b,delta,low,high,p,positives,n\n";
  for (const Difference& row : comparison.labels) {
    text += csv_row(row) + fmt::format(",{},{}\n", row.positives, row.n);
  }
  return text + csv_row(comparison.mean) + ",,\n";
}

Value to_value(const Comparison& comparison) {
  Value root = Value::table();
  root.set("mean", row_value(comparison.mean));
  root.set("labels_in_mean", Value(comparison.labels_in_mean));
  root.set("labels_total", Value(std::int64_t{std::ssize(comparison.labels)}));
  Value::Table labels;
  for (const Difference& difference : comparison.labels) {
    Value row = row_value(difference);
    row.set("positives", Value(difference.positives));
    row.set("n", Value(difference.n));
    labels.emplace_back(difference.label, std::move(row));
  }
  root.set("labels", Value(std::move(labels)));
  root.set("images", Value(comparison.images));
  root.set("patients", Value(comparison.patients));
  root.set("seeds", Value::Table{{"a", comparison.seeds_a}, {"b", comparison.seeds_b}});
  const bool covers = comparison.covers_seeds();
  root.set("intervals_cover", covers ? "seeds and patients" : "patients");
  root.set("bootstrap",
           Value::Table{{"method", covers ? "Student's t; variance between seeds, covariances of seeds by a paired "
                                            "bootstrap over patients (Obuchowski & Rockette 1995, Hillis 2007)"
                                          : "paired percentile bootstrap over patients"},
                        {"p", covers ? "two-sided, Student's t, uncorrected"
                                     : "two-sided, 2 (1 + rarer side) / (1 + defined replicates), uncorrected"},
                        {"level", comparison.bootstrap.level},
                        {"replicates", comparison.bootstrap.replicates},
                        {"seed", static_cast<std::int64_t>(comparison.bootstrap.seed)}});
  return root;
}

}  // namespace roentgen::eval
