// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Figures and settings of a stored benchmark result. Records with equal case and settings can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/calibration.h"
#include "bench/ledger/record.h"
#include "core/value.h"

namespace roentgen::bench {

/// Kind of a figure.
enum class FigureKind : std::uint8_t {
  Rate,      ///< more is better, such as images_per_s
  Time,      ///< less is better, such as step_ms
  Accuracy,  ///< more is better, compared by difference instead of ratio, such as auroc
};

/// One figure of a result.
struct Figure {
  std::string name;  ///< path, such as "images_per_s" or "points(ranks=4) images_per_s"
  FigureKind kind = FigureKind::Rate;
  double value = 0.0;  ///< finite; above 0 unless it is an accuracy
  /// Raw times in seconds of the table that has the figure; empty unless it has exactly one array of them.
  std::vector<double> samples_s{};
  /// Speeds of the machine itself during the measurement; empty: unknown, or no speed of the machine decides the
  /// figure.
  std::vector<NamedSpeed> machine{};
  /// Signs of what disturbed the measurement (disturbance.h).
  std::vector<std::string> signs{};
};

/// Kind of the figure with this key, by its unit: rates end with _per_s or _per_joule, times with _ms or _s. Nullopt if
/// the key names no figure, but for example a setting.
[[nodiscard]] std::optional<FigureKind> figure_kind(std::string_view key);

/// Returns the main figures of a result, also those in nested tables and in rows of arrays. Of one table, times are
/// left out if it has rates, because they say the same. Medians stand for tables {median, p95, min, max}.
[[nodiscard]] std::vector<Figure> main_figures(const Value& result);

/// Returns the raw samples of a result as arrays of numbers, also those in nested tables and in rows of arrays. Names
/// are paths, such as "samples.step_s" or "points(ranks=4) samples.step_s".
[[nodiscard]] Value::Table raw_samples(const Value& result);

/// Returns the settings of a result: texts, truth values and whole numbers that say what was run. Leaves out what was
/// measured, the machine, the program, and numbers of steps, which change only the precision. Sorted by key.
[[nodiscard]] Value::Table record_settings(const Value& result);
/// Formats settings, such as "batch=4, model=resnet50".
[[nodiscard]] std::string settings_text(const Value::Table& settings);
/// Returns the keys whose values differ between two tables of settings, or that one of them lacks.
[[nodiscard]] std::vector<std::string> differing_keys(const Value::Table& a, const Value::Table& b);

/// Records of one case with equal settings, sorted by date.
struct RecordGroup {
  std::string case_name{};
  Value::Table settings{};
  std::string label{};  ///< case name, with the settings that tell it from other groups of the case
  std::vector<StoredRecord> records{};
};
/// Groups records by case and settings, in the order of their first record.
/// @param ignored key that does not separate groups, such as "seed"; empty: none
[[nodiscard]] std::vector<RecordGroup> grouped(const std::vector<StoredRecord>& records, std::string_view ignored = {});

}  // namespace roentgen::bench
