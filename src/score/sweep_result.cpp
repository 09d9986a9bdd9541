// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/sweep_result.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/foreign_text.h"
#include "eval/text_columns.h"

namespace roentgen::score {
namespace {

std::string number_text(const std::optional<double>& value, std::string_view form) {
  return value ? fmt::format(fmt::runtime(form), *value) : "-";
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; }

Value value_of(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

// Difference of the means of all labels; undefined if nothing was compared.
const eval::Difference& difference_of(const SweepRow& row) {
  static const eval::Difference kNone;
  return row.against_leader ? row.against_leader->mean : kNone;
}

std::string interval_text(const eval::Estimate& estimate) {
  if (!estimate.interval) return "-";
  return fmt::format("{:+.4f} to {:+.4f}", estimate.interval->low, estimate.interval->high);
}

std::string interval_cells(const eval::Estimate& estimate) {
  if (!estimate.interval) return ",";
  return fmt::format("{:.9g},{:.9g}", estimate.interval->low, estimate.interval->high);
}

// "optimizer.lr=0.001, train.batch=16"
std::string name_of(const SweepResult& result, const SweepRow& row) {
  std::string name;
  for (std::size_t i = 0; i < result.keys.size(); ++i) {
    name += fmt::format("{}{}={}", name.empty() ? "" : ", ", result.keys[i], row.values[i]);
  }
  return name;
}

Value values_of(const SweepResult& result, const SweepRow& row) {
  Value values = Value::table();
  for (std::size_t i = 0; i < result.keys.size(); ++i) values.set(result.keys[i], row.values[i]);
  return values;
}

// Indices of the rows that have not failed.
std::vector<std::size_t> compared_rows(const SweepResult& result) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    if (result.rows[i].failed.empty()) indices.push_back(i);
  }
  return indices;
}

// Fills the means of the rows `indices` and returns the position of the leader among them; nullopt if no mean is
// defined. Compares without resamples.
std::optional<std::size_t> find_leader(SweepResult& result, const std::vector<std::size_t>& indices,
                                       const std::vector<ComparedSide>& sides) {
  std::optional<std::size_t> leader;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const eval::Difference mean = compare(sides.front(), sides[i], {.replicates = 0}).mean;
    SweepRow& row = result.rows[indices[i]];
    row.mean = mean.b.value;
    row.sd = mean.sd_b;
    if (row.mean && (!leader || *row.mean > *result.rows[indices[*leader]].mean)) leader = i;
  }
  return leader;
}

// Returns why a point may be as good as the leader; empty if its interval excludes 0.
std::string doubt_of(const SweepResult& result, const SweepRow& row) {
  const eval::Difference& difference = difference_of(row);
  const std::string name = name_of(result, row);
  if (!difference.delta.interval) {
    const std::string_view why = difference.delta.no_interval;
    return fmt::format("{} has no interval{}{}", name, why.empty() ? "" : ", ", why);
  }
  const bool excludes_zero = difference.delta.interval->high < 0.0 || difference.delta.interval->low > 0.0;
  return excludes_zero ? "" : fmt::format("the interval of {} includes 0", name);
}

std::string verdict_text(const SweepResult& result) {
  if (!result.leader) return fmt::format("no comparison: {}\n", terminal_text(result.reason));
  const std::string leader = terminal_text(name_of(result, result.rows[*result.leader]));
  std::string text = fmt::format("difference: from {}, which has the highest mean\n", leader);
  if (!result.has_best) return text + fmt::format("no difference: {}\n", terminal_text(result.reason));
  text += fmt::format("best: {} (all intervals exclude 0)\n", leader);
  if (result.covers_seeds) return text;
  return text + "The intervals cover patients, not seeds: another seed gives other weights. Add --seeds 0,1,2.\n";
}

// One line for each failed point.
std::string failures_text(const SweepResult& result) {
  std::string text;
  for (const SweepRow& row : result.rows) {
    if (!row.failed.empty())
      text += fmt::format("failed: {}: {}\n", terminal_text(name_of(result, row)), terminal_text(row.failed));
  }
  return text;
}

}  // namespace

void compare_points(SweepResult& result, const std::vector<ComparedSide>& sides,
                    const eval::BootstrapOptions& options) {
  const std::vector<std::size_t> indices = compared_rows(result);
  RG_ASSERT(!sides.empty() && sides.size() == indices.size());
  for (const ComparedSide& side : sides) check_truth(sides.front(), side);
  const std::optional<std::size_t> leader = find_leader(result, indices, sides);
  if (!leader) {
    result.reason = "no finding has images with and without it";
    return;
  }
  result.leader = indices[*leader];
  result.has_best = sides.size() > 1;
  if (!result.has_best && result.rows.size() > 1) result.reason = "all other runs failed";
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (i == *leader) continue;
    SweepRow& row = result.rows[indices[i]];
    row.against_leader = compare(sides[*leader], sides[i], options);
    result.covers_seeds = row.against_leader->covers_seeds();
    const std::string doubt = doubt_of(result, row);
    if (doubt.empty()) continue;
    if (result.has_best) result.reason = doubt;  // the first is enough
    result.has_best = false;
  }
}

std::string to_text(const SweepResult& result) {
  std::vector<eval::TextRow> rows{result.keys};
  for (const char* head : {"mean AUROC", "sd", "difference", "95% interval", "p"}) rows[0].emplace_back(head);
  for (const SweepRow& row : result.rows) {
    eval::TextRow& cells = rows.emplace_back(row.values);
    const eval::Difference& difference = difference_of(row);
    cells.push_back(number_text(row.mean, "{:.4f}"));
    cells.push_back(number_text(row.sd, "{:.4f}"));
    cells.push_back(number_text(difference.delta.value, "{:+.4f}"));
    cells.push_back(interval_text(difference.delta));
    cells.push_back(number_text(difference.p, "{:.4f}"));
  }
  return eval::in_columns(std::move(rows), eval::LastLine::Alike) +
         "AUROCs of the validation images, on which each run's best epoch was chosen, so they are optimistic.\n" +
         verdict_text(result) + failures_text(result);
}

std::string to_csv(const SweepResult& result) {
  std::string text;
  for (const std::string& key : result.keys) text += csv_field(key) + ",";
  text += "folder,mean_auroc,sd,difference,low,high,p,failed\n";
  for (const SweepRow& row : result.rows) {
    for (const std::string& value : row.values) text += csv_field(value) + ",";
    const eval::Difference& difference = difference_of(row);
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(row.folder), csv_number(row.mean), csv_number(row.sd),
                        csv_number(difference.delta.value), interval_cells(difference.delta), csv_number(difference.p),
                        csv_field(row.failed));
  }
  return text;
}

Value to_value(const SweepResult& result) {
  Value points = Value::array();
  for (const SweepRow& row : result.rows) {
    points.push_back(
        Value::Table{{"values", values_of(result, row)},
                     {"folder", row.folder},
                     {"mean_auroc", value_of(row.mean)},
                     {"sd", value_of(row.sd)},
                     {"against_leader", row.against_leader ? eval::to_value(*row.against_leader) : Value()},
                     {"failed", row.failed}});
  }
  const Value leader = result.leader ? values_of(result, result.rows[*result.leader]) : Value();
  return Value::Table{{"keys", Value::Array(result.keys.begin(), result.keys.end())},
                      {"points", std::move(points)},
                      {"leader", leader},
                      {"best", result.has_best ? leader : Value()},
                      {"reason", result.reason},
                      {"intervals_cover", result.covers_seeds ? "seeds and patients" : "patients"}};
}

}  // namespace roentgen::score
