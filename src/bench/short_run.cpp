// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/short_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "bench/calibration.h"
#include "bench/disturbance.h"
#include "bench/harness.h"
#include "bench/speed.h"
#include "bench/step_progress.h"
#include "core/error.h"
#include "core/log.h"
#include "runtime/stream.h"
#include "train/ranks.h"

namespace roentgen::bench {
namespace {

/// Entries of a row.
constexpr std::array<std::string_view, 21> kRowKeys{
    "ranks", "n",         "hosts",        "images_per_s", "uncertainty",  "jitter",         "min",
    "max",   "variation", "settled_from", "data_wait",    "comm_exposed", "oversubscribed", "kind",
    "batch", "threads",   "dtype",        "warnings",     "disturbance",  "calibration",    "samples"};
/// Entries of a row that run_scaling_point() returns.
constexpr std::array<std::string_view, 10> kPointKeys{"data_wait",   "comm_exposed", "oversubscribed", "kind",
                                                      "batch",       "threads",      "dtype",          "disturbance",
                                                      "calibration", "samples"};

/// Adds the entries of a point that some points lack.
void add_found(Value& row, const Value& point) {
  for (const std::string_view key : {"gflop_per_image", "energy"}) {
    if (const Value* const found = point.find(key)) row.set(key, *found);
  }
}

/// Moves entries that are equal in all rows to `settings`.
void move_common(Value& rows, Value& settings) {
  Value::Array& all = rows.as_array();
  for (const std::string_view key :
       {"hosts", "oversubscribed", "n", "kind", "batch", "threads", "dtype", "gflop_per_image"}) {
    const Value* const first = all.front().find(key);
    if (first == nullptr) continue;
    const Value value = *first;
    if (!std::ranges::all_of(all, [&](const Value& row) { return row.at(key) == value; })) continue;
    settings.set(key, value);
    for (Value& row : all) std::erase_if(row.as_table(), [&](const auto& entry) { return entry.first == key; });
  }
}

/// Speed of `point` by that of `base`, divided by `more`; null without a base, or if ranks share cores.
Value ratio_of(const Value& point, const Value& base, double more) {
  if (base.is_null() || point.at("oversubscribed").as_bool() || base.at("oversubscribed").as_bool()) return {};
  return Value(point.at("images_per_s").as_double() / base.at("images_per_s").as_double() / more);
}

}  // namespace

Value run_shown_point(std::string_view name, const ScalingOptions& given, dist::CommThread* group) {
  ScalingOptions options = given;
  options.is_calibrated = true;
  const train::Ranks ranks(group);
  StepProgress progress(fmt::format("{}, {}", name, train::ranks_text(ranks.size())),
                        options.step.warmup + options.step.steps);
  options.on_step = [&](const train::StepRecord& record) {
    if (!ranks.is_first()) return;
    progress.update(record);
    if (given.on_step) given.on_step(record);
  };
  Value point = run_scaling_point(options, group);
  progress.end();
  return point;
}

Value run_short(const ScalingOptions& options, dist::CommThread* group) {
  return short_row(run_shown_point("short", options, group));
}

std::vector<std::string> short_warnings(const Value& result) {
  const std::vector<double> step_s = measurements_in(result.at("samples").at("step_s"));
  std::vector<std::string> warnings = signs_of_unsteady_speed(step_s);
  const bool is_unsteady = !warnings.empty();
  std::vector<std::string> causes = signs_of(disturbance_in(result.at("disturbance")));
  for (std::string& sign : signs_of(calibration_in(result.at("calibration")), step_s))
    causes.push_back(std::move(sign));
  warnings.insert(warnings.end(), causes.begin(), causes.end());
  if (is_unsteady && causes.empty()) {
    warnings.emplace_back(
        "no cause was found: other processes, stolen CPU time, heat, clock, and the speed of the machine itself "
        "changed too little, or are unknown");
  }
  return warnings;
}

Value short_row(const Value& point) {
  const std::vector<double> step_s = measurements_in(point.at("samples").at("step_s"));
  const double images = point.at("batch").as_double() * point.at("ranks").as_double();
  const Speed speed = speed_of(step_s, images);
  const std::optional<std::size_t> settled = settled_from(step_s);
  Value row = Value::Table{{"ranks", point.at("ranks")},
                           {"hosts", point.at("hosts")},
                           {"n", static_cast<std::int64_t>(step_s.size())},
                           {"images_per_s", speed.mean},
                           {"uncertainty", speed.uncertainty},
                           {"jitter", speed.jitter},
                           {"min", speed.min},
                           {"max", speed.max},
                           {"variation", speed.variation},
                           {"settled_from", settled ? Value(static_cast<std::int64_t>(*settled + 1)) : Value()}};
  for (const std::string_view key : kPointKeys) row.set(key, point.at(key));
  add_found(row, point);
  Value& warnings = row.set("warnings", Value::array());
  for (std::string& text : short_warnings(point)) warnings.push_back(std::move(text));
  return short_row_in(row);
}

Value run_short_points(const std::vector<std::int64_t>& counts, Value settings,
                       const std::function<Value(std::int64_t ranks)>& run_point) {
  RG_ASSERT(!counts.empty());
  Value rows = Value::array(), warnings = Value::array();
  for (const std::int64_t count : counts) {
    if (counts.size() > 1) log::info(fmt::format("short: {} of {}", train::ranks_text(count), counts.back()));
    rows.push_back(run_point(count));
    for (const Value& text : rows.as_array().back().at("warnings").as_array()) {
      warnings.push_back(counts.size() == 1 ? text
                                            : Value(fmt::format("{}: {}", train::ranks_text(count), text.as_string())));
    }
  }
  if (counts.size() == 1) {
    for (const auto& [key, value] : rows.as_array().front().as_table()) settings.set(key, value);
  } else {
    const auto found = std::ranges::find(counts, 1);
    const Value single =
        found == counts.end() ? Value() : rows.as_array()[static_cast<std::size_t>(found - counts.begin())];
    for (Value& row : rows.as_array()) {
      row.set("speedup", ratio_of(row, single, 1.0));
      row.set("efficiency", ratio_of(row, single, row.at("ranks").as_double()));
      const Value* const per_joule = row.find_path("energy.images_per_joule");
      if (per_joule != nullptr && per_joule->is_number()) row.set("images_per_joule", *per_joule);
      std::erase_if(row.as_table(), [](const auto& entry) { return entry.first == "energy"; });
    }
    move_common(rows, settings);
    settings.set("points", std::move(rows));
  }
  settings.set("warnings", std::move(warnings));
  return settings;
}

Value short_row_in(const Value& result) {
  Value row = Value::table();
  for (const std::string_view key : kRowKeys) row.set(key, result.at(key));
  add_found(row, result);
  return row;
}

std::int64_t iterations_of(std::int64_t epochs, std::int64_t images, std::int64_t batch, std::int64_t ranks) {
  return epochs * images / (batch * ranks);
}

std::string iterations_text(std::int64_t epochs, std::optional<std::int64_t> images, std::int64_t batch,
                            std::int64_t ranks) {
  constexpr std::string_view kFormula = "iterations = epochs * images / (batch * devices)";
  if (!images) return std::string(kFormula);
  return fmt::format("{} = {} * {} / ({} * {}) = {}", kFormula, epochs, *images, batch, ranks,
                     iterations_of(epochs, *images, batch, ranks));
}

std::vector<std::int64_t> usual_counts(std::int64_t devices) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : {1, 4, 8}) {
    if (count <= devices) counts.push_back(count);
  }
  if (devices < 8 && counts.back() != devices) counts.push_back(devices);
  return counts;
}

std::int64_t devices_of(const std::string& device) {
  if (device != "cuda") return 1;
  return std::max<std::int64_t>(1, std::ssize(runtime::find_cuda_devices().devices));
}

}  // namespace roentgen::bench
