// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <utility>

#include "bench/disturbance.h"
#include "io/json.h"

namespace roentgen::bench {
namespace {

using Table = Value::Table;

// Entries about the machine, the program, or details of a run, which have neither main figures nor settings.
constexpr std::array<std::string_view, 21> kNoFigures{
    "program",  "cpu",    "kernel",  "variables", "libraries", "links",    "samples",
    "warnings", "layers", "profile", "memory",    "pipelines", "doctor",   "disturbance",
    "peak",     "limits", "command", "cost",      "advice",    "by_round", "calibration"};
// Texts, truth values and whole numbers that are measured, or that change only the precision of a result.
constexpr std::array<std::string_view, 45> kNoSettings{
    "case",          "warmup",       "n",           "rounds",
    "steps",         "checksum",     "plan_hash",   "engine",
    "bound",         "fault",        "kind",        "confirmed",
    "dropped",       "tried",        "kept",        "date",
    "staleness_max", "same_batches", "applied",     "choice_revision",
    "source",        "from",         "stages",      "settled_from",
    "formula",       "reached",      "stopped",     "epochs_to_target",
    "epochs_done",   "run",          "counted",     "steady",
    "failed",        "verdict",      "recipe_file", "next_command",
    "train_command", "trained",      "items",       "empty_waits",
    "full_waits",    "entries",      "choices",     "largest_batch",
    "slowest_rank"};
// Settings whose names end in a unit. Without this list, they would be taken for measured figures.
constexpr std::array<std::string_view, 11> kSettingsWithUnit{"bandwidth_mb_per_s", "host_bandwidth_mb_per_s",
                                                             "latency_us",         "host_latency_us",
                                                             "slow_factor",        "cell_s",
                                                             "bucket_mb",          "device_sd",
                                                             "cost_per_hour",      "device_images_per_s",
                                                             "budget_bytes"};
constexpr std::array<std::string_view, 6> kAccuracies{"auroc", "mean_auroc", "top1", "top5", "accuracy", "f1"};

template <typename List>
bool contains(const List& list, std::string_view key) {
  return std::ranges::find(list, key) != list.end();
}

bool is_summary(const Value& value) {
  const Value* const median = value.find("median");
  return median != nullptr && median->is_number();
}

bool is_setting(std::string_view key, const Value& value) {
  if (contains(kSettingsWithUnit, key)) return true;
  if (contains(kNoSettings, key) || contains(kNoFigures, key) || key.ends_with("_bytes")) return false;
  if (figure_kind(key)) return false;  // programs may write 3.0 as 3
  return value.is_string() || value.is_bool() || value.is_integer();
}

std::optional<Figure> figure_of(const std::string& key, const Value& value) {
  const std::optional<FigureKind> kind = figure_kind(key);
  const Value* const number = is_summary(value) ? value.find("median") : &value;
  if (!kind || !number->is_number()) return std::nullopt;
  const double size = number->as_double();
  if (!std::isfinite(size) || (*kind != FigureKind::Accuracy && size <= 0.0)) return std::nullopt;
  return Figure{.name = key, .kind = *kind, .value = size};
}

/// Raw times of a table that has exactly one array of samples, in seconds; else empty.
std::vector<double> samples_of_table(const Value& table) {
  const Value* const samples = table.find("samples");
  if (samples == nullptr || !samples->is_table() || samples->as_table().size() != 1) return {};
  const auto& [name, times] = samples->as_table().front();
  if (!name.ends_with("_s") || !times.is_array()) return {};
  std::vector<double> seconds;
  for (const Value& time : times.as_array()) {
    if (!time.is_number() || time.as_double() <= 0.0) return {};
    seconds.push_back(time.as_double());
  }
  return seconds;
}

/// Calls `visit` with a table of a result and the prefix of the names in it, then with the tables and rows inside.
template <typename Visit>
void visit_tables(const Value& table, const std::string& prefix, const Visit& visit) {
  visit(table, prefix);
  const auto visit_rows = [&](const std::string& key, const Value& rows) {
    std::vector<std::string> names;  // without the numbers of equal ones
    for (const Value& row : rows.as_array()) {
      if (!row.is_table()) return;
      std::string name = fmt::format("{}{}({})", prefix, key, settings_text(record_settings(row)));
      names.push_back(name);
      const auto count = std::ranges::count(names, names.back());
      if (count > 1) name += fmt::format("#{}", count);
      visit_tables(row, name + " ", visit);
    }
  };
  for (const auto& [key, value] : table.as_table()) {
    if (contains(kNoFigures, key)) continue;
    if (value.is_array()) visit_rows(key, value);
    if (value.is_table() && !is_summary(value)) visit_tables(value, fmt::format("{}{} ", prefix, key), visit);
  }
}

/// Appends the figures of one table, without those of tables inside.
void add_figures(const Value& table, const std::string& prefix, std::vector<Figure>& figures) {
  std::vector<Figure> own;
  for (const auto& [key, value] : table.as_table()) {
    if (contains(kNoFigures, key)) continue;
    if (auto figure = figure_of(key, value)) own.push_back(std::move(*figure));
  }
  const bool has_rate = std::ranges::find(own, FigureKind::Time, &Figure::kind) == own.end() ||
                        std::ranges::find(own, FigureKind::Rate, &Figure::kind) != own.end();
  for (Figure& figure : own) {
    // The time to a target says more than the rate.
    if (has_rate && figure.kind == FigureKind::Time && figure.name != "time_to_target_s") continue;
    // Relative figures also depend on the samples of another row.
    const bool is_relative = figure.name.ends_with("efficiency") || figure.name.ends_with("speedup");
    if (!is_relative) figure.samples_s = samples_of_table(table);
    if (!is_relative && figure.kind != FigureKind::Accuracy) {
      figure.machine = machine_speeds_in(table);
      if (const Value* const found = table.find("disturbance")) figure.signs = signs_of(disturbance_in(*found));
    }
    figure.name = prefix + figure.name;
    figures.push_back(std::move(figure));
  }
}

/// Sets the labels of all groups.
void set_labels(std::vector<RecordGroup>& groups) {
  for (RecordGroup& group : groups) {
    std::vector<std::string> telling;
    for (const RecordGroup& other : groups) {
      if (other.case_name != group.case_name) continue;
      for (const std::string& key : differing_keys(group.settings, other.settings)) {
        if (!contains(telling, key)) telling.push_back(key);
      }
    }
    Table shown = group.settings;
    std::erase_if(shown, [&](const auto& entry) { return !contains(telling, entry.first); });
    group.label = shown.empty() ? group.case_name : fmt::format("{} ({})", group.case_name, settings_text(shown));
  }
}

}  // namespace

std::optional<FigureKind> figure_kind(std::string_view key) {
  if (contains(kSettingsWithUnit, key)) return std::nullopt;
  if (contains(kAccuracies, key)) return FigureKind::Accuracy;
  for (const std::string_view end : {"_per_s", "_per_joule", "efficiency", "speedup"}) {
    if (key.ends_with(end)) return FigureKind::Rate;
  }
  for (const std::string_view end : {"_ms", "_s"}) {
    if (key.ends_with(end)) return FigureKind::Time;
  }
  return key == "ms" ? std::optional(FigureKind::Time) : std::nullopt;
}

std::vector<Figure> main_figures(const Value& result) {
  std::vector<Figure> figures;
  visit_tables(result, "", [&](const Value& table, const std::string& prefix) { add_figures(table, prefix, figures); });
  return figures;
}

Table raw_samples(const Value& result) {
  Table all;
  visit_tables(result, "", [&all](const Value& table, const std::string& prefix) {
    const Value* const samples = table.find("samples");
    if (samples == nullptr || !samples->is_table()) return;
    for (const auto& [name, values] : samples->as_table()) {
      if (!values.is_array()) continue;
      Value numbers = Value::array();
      for (const Value& value : values.as_array()) {
        if (value.is_number()) numbers.push_back(value);
      }
      all.emplace_back(fmt::format("{}samples.{}", prefix, name), std::move(numbers));
    }
  });
  return all;
}

Table record_settings(const Value& result) {
  Table settings;
  for (const auto& [key, value] : result.as_table()) {
    if (is_setting(key, value)) settings.emplace_back(key, value);
  }
  std::ranges::sort(settings, {}, [](const auto& entry) { return entry.first; });
  return settings;
}

std::string settings_text(const Table& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key,
                        value.is_string() ? value.as_string() : io::to_json(value, -1));
  }
  return text;
}

std::vector<std::string> differing_keys(const Table& a, const Table& b) {
  std::vector<std::string> keys;
  const auto add_missing = [&keys](const Table& from, const Table& to) {
    for (const auto& [key, value] : from) {
      const auto found = std::ranges::find(to, key, &std::pair<std::string, Value>::first);
      if ((found == to.end() || found->second != value) && !contains(keys, key)) keys.push_back(key);
    }
  };
  add_missing(a, b);
  add_missing(b, a);
  std::ranges::sort(keys);
  return keys;
}

std::vector<RecordGroup> grouped(const std::vector<StoredRecord>& records, std::string_view ignored) {
  std::vector<RecordGroup> groups;
  for (const StoredRecord& record : records) {
    const std::string& name = record.value.at("case").as_string();
    Table settings = record_settings(record.value.at("result"));
    std::erase_if(settings, [&](const auto& entry) { return entry.first == ignored; });
    auto found = std::ranges::find_if(
        groups, [&](const RecordGroup& group) { return group.case_name == name && group.settings == settings; });
    if (found == groups.end()) {
      found = groups.insert(found, {.case_name = name, .settings = std::move(settings)});
    }
    found->records.push_back(record);
  }
  set_labels(groups);
  return groups;
}

}  // namespace roentgen::bench
