// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sweep: short tests of many settings of training, cheapest first, and the choice of the fastest. Knows neither engine
// nor processes; the case `sweep` (cases/sweep.cpp) passes functions that plan and run a setting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::bench {

/// One combination of settings.
struct SweepSetting {
  std::int64_t batch = 16;    ///< images per step and rank
  std::string fuse = "on";    ///< graph passes (NetworkOptions::fuse)
  std::string dtype = "f32";  ///< number format (NetworkOptions::dtype)
  std::int64_t ranks = 1;     ///< number of processes, one per device
  /// Value of --gdr; empty if the gradients do not pass through NCCL, so that it has no effect.
  std::string gdr{};
  friend bool operator==(const SweepSetting&, const SweepSetting&) = default;
};

/// Values of each setting, in the order of the options.
struct SweepLists {
  std::vector<std::int64_t> batches{};
  std::vector<std::string> fuses{};
  std::vector<std::string> dtypes{};
  std::vector<std::int64_t> ranks{};
  std::vector<std::string> gdrs{};
};

/// Returns all combinations. --gdr is combined only with several ranks, and only if `has_nccl`.
[[nodiscard]] std::vector<SweepSetting> sweep_settings(const SweepLists& lists, bool has_nccl);
/// Formats a setting, such as "batch 16, fuse on, dtype f32, ranks 2, gdr off". Leaves out an empty gdr.
[[nodiscard]] std::string setting_text(const SweepSetting& setting);
/// Returns the entries batch, fuse, dtype, ranks and gdr (null if empty) of a table.
[[nodiscard]] Value to_value(const SweepSetting& setting);
/// Returns the setting of a row of run_sweep().
[[nodiscard]] SweepSetting setting_of(const Value& row);

/// Work and memory of one step on one rank, known before it runs.
struct SweepNeeds {
  double flops = 0.0;             ///< number of floating-point operations of a step on one rank
  std::size_t planned_bytes = 0;  ///< memory of the step on one rank
};

/// Functions and numbers of a sweep.
struct SweepRun {
  std::int64_t steps = 110;  ///< steps of a short test, with warm-up
  /// True if every rank has a device of its own. False: the ranks share the cores of the machine.
  bool has_own_devices = false;
  /// Returns the needs of a setting. Throws for one that this machine cannot run.
  std::function<SweepNeeds(const SweepSetting&)> plan{};
  /// Runs a short test. Returns short_row() (short_run.h). Throws if it fails.
  std::function<Value(const SweepSetting&)> run{};
  /// Rows of an earlier sweep with equal options, which are not measured again.
  Value::Array known{};
  /// Called with the rows so far after each test; may be empty.
  std::function<void(const Value::Array& rows)> keep{};
};

/// Estimated cost of a short test, in floating-point operations per device:
///   steps * batch * ranks * (flops of an image) / devices,
/// where devices = ranks if each rank has its own device, and else 1. It leaves out dtype and communication, so it
/// orders settings, but predicts no time.
[[nodiscard]] double sweep_cost(const SweepSetting& setting, const SweepNeeds& needs, const SweepRun& run);

/// Runs all settings in ascending order of sweep_cost(). A setting that fails becomes a row with its reason. Throws
/// StopError of SweepRun::run.
/// Returns rows, the fastest first and failed ones last. A row has the entries of to_value(SweepSetting), and:
///   images_per_s, uncertainty, jitter, variation  see Speed; null if it failed
///   planned_bytes  memory of the step on one rank; null if it could not be planned
///   steady         false if signs_of_unsteady_speed() found something; null if it failed
///   threads, oversubscribed  see short_row(); null if it failed
///   failed         reason; empty for a measured row
///   warnings, disturbance, calibration, samples  see short_row(); only of measured rows
[[nodiscard]] Value::Array run_sweep(const std::vector<SweepSetting>& settings, const SweepRun& run);

/// How certain the choice of a setting is.
enum class SweepVerdict : std::uint8_t {
  Winner,        ///< a steady row, faster than all others by more than the jitter
  InsideJitter,  ///< a steady row, but another one is slower by at most the jitter
  Unsteady,      ///< no row is steady, so the fastest may be so by chance
  None,          ///< every row failed
};

/// The setting for the long test.
struct SweepChoice {
  SweepVerdict verdict = SweepVerdict::None;
  SweepSetting setting{};
  std::string text{};  ///< verdict as one line without a full stop
};

/// Chooses the fastest steady row, or without one the fastest row. "Inside the jitter" means a difference of at most
/// the larger jitter of the two rows. `rows` is a result of run_sweep().
[[nodiscard]] SweepChoice choose_row(const Value::Array& rows);

}  // namespace roentgen::bench
