// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bench/ledger/figures.h"
#include "bench/ledger/statistics.h"
#include "bench/speed.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

constexpr double kLevel = 0.95;

/// Value on the scale on which sides are compared by difference: the logarithm, except for accuracies.
double scaled(FigureKind kind, double value) { return kind == FigureKind::Accuracy ? value : std::log(value); }
double unscaled(FigureKind kind, double value) { return kind == FigureKind::Accuracy ? value : std::exp(value); }

std::vector<double> values_of(const RecordGroup& group, const Figure& figure) {
  std::vector<double> values;
  for (const StoredRecord& record : group.records) {
    for (const Figure& each : main_figures(record.value.at("result"))) {
      if (each.name == figure.name) values.push_back(scaled(figure.kind, each.value));
    }
  }
  return values;
}

/// Raw times of a figure in a record, on the scale of the figure; empty without them.
std::vector<double> samples_of_run(const StoredRecord& record, const Figure& figure) {
  if (figure.kind == FigureKind::Accuracy) return {};
  const std::vector<Figure> figures = main_figures(record.value.at("result"));
  const auto found = std::ranges::find(figures, figure.name, &Figure::name);
  if (found == figures.end()) return {};
  std::vector<double> values = block_means(found->samples_s);
  for (double& value : values) value = figure.kind == FigureKind::Rate ? -std::log(value) : std::log(value);
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Ratio of a speed of the machine itself in b to that in a.
struct MachineRatio {
  std::string_view name;
  double ratio = 1.0;
  bool is_apart = false;  ///< true if all samples in b are slower than all in a, or all are faster
};

/// Logarithms of the machine's speeds while a figure was measured in the records of a group: the mean, and the lowest
/// and highest sample. Leaves out speeds that a record lacks.
std::vector<NamedSpeed> log_speeds(const RecordGroup& group, const std::string& name) {
  std::vector<NamedSpeed> sums;
  for (const StoredRecord& record : group.records) {
    const std::vector<Figure> figures = main_figures(record.value.at("result"));
    const auto figure = std::ranges::find(figures, name, &Figure::name);
    if (figure == figures.end()) return {};
    std::vector<NamedSpeed> next;
    for (const NamedSpeed& speed : figure->machine) {
      next.push_back({speed.name, std::log(speed.value), std::log(speed.lowest), std::log(speed.highest)});
      if (sums.empty()) continue;
      const auto sum = std::ranges::find(sums, speed.name, &NamedSpeed::name);
      if (sum == sums.end()) {
        next.pop_back();
        continue;
      }
      next.back().value += sum->value;
      next.back().lowest = std::min(next.back().lowest, sum->lowest);
      next.back().highest = std::max(next.back().highest, sum->highest);
    }
    if (next.empty()) return {};
    sums = std::move(next);
  }
  for (NamedSpeed& sum : sums) sum.value /= static_cast<double>(group.records.size());
  return sums;
}

std::vector<MachineRatio> machine_ratios(const RecordGroup& a, const RecordGroup& b, const std::string& figure) {
  std::vector<MachineRatio> ratios;
  const std::vector<NamedSpeed> in_b = log_speeds(b, figure);
  for (const NamedSpeed& speed : log_speeds(a, figure)) {
    const auto other = std::ranges::find(in_b, speed.name, &NamedSpeed::name);
    if (other == in_b.end()) continue;
    const bool is_apart = other->highest < speed.lowest || other->lowest > speed.highest;
    ratios.push_back({speed.name, std::exp(other->value - speed.value), is_apart});
  }
  return ratios;
}

Value to_value(const std::vector<MachineRatio>& ratios) {
  if (ratios.empty()) return {};
  Value table = Value::table();
  for (const MachineRatio& each : ratios) table.set(each.name, each.ratio);
  return table;
}

bool is_changed(double ratio) { return std::abs(ratio - 1.0) > kMostVariation; }

/// Clauses about changes of the machine that can be why a figure changed. Such a change exceeds 2% and the spread of
/// the samples, and has the direction of the figure's change.
/// @param speedup ratio of the speed in b to that in a, by the figure
std::vector<std::string> machine_clauses(double speedup, const std::vector<MachineRatio>& machine) {
  std::vector<std::string> clauses;
  for (const MachineRatio& each : machine) {
    const bool is_slower = each.ratio < 1.0;
    if (!each.is_apart || !is_changed(each.ratio) || is_slower != (speedup < 1.0)) continue;
    const double percent = std::abs(each.ratio - 1.0) * 100;
    clauses.push_back(each.name == "gpu_clock"
                          ? fmt::format("had a {:.0f}% {} GPU clock in b", percent, is_slower ? "lower" : "higher")
                          : fmt::format("{} {:.0f}% {} in b", each.name == "compute" ? "computed" : "copied", percent,
                                        is_slower ? "slower" : "faster"));
  }
  return clauses;
}

/// Sentences that say why a figure may have changed by more than 2%. They name the speed of the machine itself and, for
/// single records, what disturbed them.
std::vector<std::string> reasons_of(const Value& row, const Figure& a, const Figure& b,
                                    const std::vector<MachineRatio>& machine) {
  std::vector<std::string> reasons;
  const double ratio = row.at("ratio").as_double();
  if (is_changed(ratio) && !machine.empty()) {
    const std::vector<std::string> clauses = machine_clauses(a.kind == FigureKind::Time ? 1.0 / ratio : ratio, machine);
    reasons.push_back(clauses.empty() ? "the speed of the machine itself does not explain the difference"
                                      : fmt::format("the machine itself {}", fmt::join(clauses, " and ")));
  }
  if (is_changed(ratio) && row.at("variation").as_string() != "between runs") {
    for (const std::string& sign : a.signs) reasons.push_back("in a, " + sign);
    for (const std::string& sign : b.signs) reasons.push_back("in b, " + sign);
  }
  for (std::string& reason : reasons) {
    reason = fmt::format("{} {}: {}", row.at("case").as_string(), row.at("figure").as_string(), reason);
  }
  return reasons;
}

std::string_view verdict_of(FigureKind kind, const std::optional<Interval>& interval) {
  if (!interval) return "unknown";
  if (interval->low <= 0.0 && interval->high >= 0.0) return "no difference";
  return (interval->low > 0.0) == (kind != FigureKind::Time) ? "better" : "worse";
}

Value row_of(const RecordGroup& a, const RecordGroup& b, const Figure& figure,
             const std::vector<MachineRatio>& machine) {
  const std::vector<double> in_a = values_of(a, figure), in_b = values_of(b, figure);
  std::string_view variation = "between runs";
  std::optional<Interval> interval = difference_of_means(in_a, in_b, kLevel);
  if (!interval) {
    const std::vector<double> run_a = samples_of_run(a.records.front(), figure);
    const std::vector<double> run_b = samples_of_run(b.records.front(), figure);
    variation = "within a run";
    if (run_a.size() > 1 && run_b.size() > 1) interval = difference_of_means(run_a, run_b, kLevel);
    if (!interval) variation = "unknown";
  }
  const double estimate = interval ? interval->estimate : mean(in_b) - mean(in_a);
  const auto shown = [&](double value) { return Value(unscaled(figure.kind, value)); };
  return Value::Table{{"case", a.label},
                      {"figure", figure.name},
                      {"a", shown(mean(in_a))},
                      {"b", shown(mean(in_b))},
                      {"ratio", shown(estimate)},
                      {"low", interval ? shown(interval->low) : Value()},
                      {"high", interval ? shown(interval->high) : Value()},
                      {"verdict", verdict_of(figure.kind, interval)},
                      {"variation", variation},
                      {"machine_speed", to_value(machine)}};
}

const RecordGroup* equal_group(const RecordGroup& group, const std::vector<RecordGroup>& others) {
  const auto found = std::ranges::find_if(others, [&](const RecordGroup& other) {
    return other.case_name == group.case_name && other.settings == group.settings;
  });
  return found == others.end() ? nullptr : &*found;
}

Value labels_without(const std::vector<RecordGroup>& groups, const std::vector<RecordGroup>& others) {
  Value labels = Value::array();
  for (const RecordGroup& group : groups) {
    if (equal_group(group, others) == nullptr) labels.push_back(group.label);
  }
  return labels;
}

std::string value_text(const RecordGroup& group, const std::string& key) {
  Value::Table one;
  for (const auto& entry : group.settings) {
    if (entry.first == key) one.push_back(entry);
  }
  return one.empty() ? "no " + key : settings_text(one);
}

/// Throws ConfigError that names the settings which differ least between the two sides.
[[noreturn]] void refuse_different(const std::vector<RecordGroup>& a, const std::vector<RecordGroup>& b) {
  std::optional<std::vector<std::string>> fewest;
  const RecordGroup* first = nullptr;
  const RecordGroup* second = nullptr;
  for (const RecordGroup& in_a : a) {
    for (const RecordGroup& in_b : b) {
      if (in_a.case_name != in_b.case_name) continue;
      std::vector<std::string> keys = differing_keys(in_a.settings, in_b.settings);
      if (fewest && fewest->size() <= keys.size()) continue;
      fewest = std::move(keys);
      first = &in_a;
      second = &in_b;
    }
  }
  if (!fewest) {
    throw ConfigError(error_text("bench.compare", "records",
                                 "the same benchmark case on both sides, such as " + a.front().case_name,
                                 b.front().case_name, "records of the same case"));
  }
  std::vector<std::string> in_a, in_b;
  for (const std::string& key : *fewest) {
    in_a.push_back(value_text(*first, key));
    in_b.push_back(value_text(*second, key));
  }
  throw ConfigError(error_text("bench.compare", first->case_name,
                               fmt::format("equal settings: {}", fmt::join(in_a, ", ")),
                               fmt::format("{}", fmt::join(in_b, ", ")), "records with the same settings"));
}

}  // namespace

Value compare_records(const std::vector<StoredRecord>& a, const std::vector<StoredRecord>& b) {
  const std::vector<RecordGroup> groups_a = grouped(a), groups_b = grouped(b);
  std::set<std::string> hosts;
  for (const std::vector<StoredRecord>* side : {&a, &b}) {
    for (const StoredRecord& record : *side) hosts.insert(record.value.at("host").as_string());
  }
  Value rows = Value::array(), warnings = Value::array();
  bool has_pair = false;
  for (const RecordGroup& group : groups_a) {
    const RecordGroup* const other = equal_group(group, groups_b);
    if (other == nullptr) continue;
    has_pair = true;
    const std::vector<Figure> theirs = main_figures(other->records.front().value.at("result"));
    for (const Figure& figure : main_figures(group.records.front().value.at("result"))) {
      const auto found = std::ranges::find(theirs, figure.name, &Figure::name);
      if (found == theirs.end()) continue;
      const std::vector<MachineRatio> machine = machine_ratios(group, *other, figure.name);
      rows.push_back(row_of(group, *other, figure, machine));
      for (std::string& reason : reasons_of(rows.as_array().back(), figure, *found, machine)) {
        warnings.push_back(std::move(reason));
      }
    }
  }
  if (!has_pair) refuse_different(groups_a, groups_b);
  return Value::Table{{"case", "compare"},
                      {"level", kLevel},
                      {"same_host", hosts.size() == 1},
                      {"figures", std::move(rows)},
                      {"warnings", std::move(warnings)},
                      {"only_a", labels_without(groups_a, groups_b)},
                      {"only_b", labels_without(groups_b, groups_a)}};
}

}  // namespace roentgen::bench
