// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "bench/disturbance.h"
#include "bench/harness.h"
#include "bench/speed.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

/// A kind of work with its key in a record and its verb.
struct Work {
  std::string_view key;
  std::string_view name;
  std::string_view verb;
  double SpeedSample::*seconds;
};
constexpr std::array<Work, 2> kWorks{{{"compute_s", "compute", "computed", &SpeedSample::compute_s},
                                      {"copy_s", "copy", "copied", &SpeedSample::copy_s}}};

std::vector<double> times_of(const Calibration& calibration, const Work& work) {
  std::vector<double> times;
  for (const SpeedSample& sample : calibration.samples) times.push_back(sample.*work.seconds);
  return times;
}

/// Returns the numbers of an array in a table; empty without such an array, because records may come from anywhere.
std::vector<double> numbers_at(const Value& table, std::string_view key) {
  const Value* const all = table.find(key);
  if (all == nullptr || !all->is_array() || !std::ranges::all_of(all->as_array(), &Value::is_number)) return {};
  return measurements_in(*all);
}

/// Steps between two samples, with the machine's times for a kind of work.
struct Part {
  std::size_t first = 0;
  std::size_t end = 0;
  double shorter_s = 0.0;  ///< the shorter time of the samples before and after the steps
  double longer_s = 0.0;   ///< the longer one
};

std::string text_of(const Part& part) { return fmt::format("steps {} to {}", part.first + 1, part.end); }

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Two parts of a run, in one of which the machine was slower.
struct Slowdown {
  const Part* fast = nullptr;
  const Part* slow = nullptr;
  double share = 0.0;  ///< share by which the machine was slower
};

/// Finds the two parts between which the machine slowed down most. Both are nullptr if no part is slower than another
/// by more than kMostVariation in both samples.
Slowdown largest_slowdown(const std::vector<Part>& parts) {
  Slowdown largest{.share = kMostVariation};
  for (const Part& slow : parts) {
    for (const Part& fast : parts) {
      const double share = 1.0 - fast.longer_s / slow.shorter_s;
      if (share > largest.share) largest = {.fast = &fast, .slow = &slow, .share = share};
    }
  }
  return largest;
}

}  // namespace

Calibration slowest_of(const std::vector<Calibration>& ranks) {
  RG_ASSERT(!ranks.empty());
  Calibration slowest = ranks.front();
  for (const Calibration& rank : ranks) {
    RG_ASSERT(rank.steps == slowest.steps);
    for (std::size_t i = 0; i < slowest.samples.size(); ++i) {
      for (const Work& work : kWorks) {
        slowest.samples[i].*work.seconds = std::max(slowest.samples[i].*work.seconds, rank.samples[i].*work.seconds);
      }
    }
  }
  return slowest;
}

std::vector<std::string> signs_of(const Calibration& calibration, std::span<const double> step_s) {
  std::vector<std::string> signs;
  for (const Work& work : kWorks) {
    const std::vector<double> times = times_of(calibration, work);
    if (times.size() < 3) continue;
    std::vector<Part> parts;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      parts.push_back({.first = static_cast<std::size_t>(calibration.steps[i]),
                       .end = static_cast<std::size_t>(calibration.steps[i + 1]),
                       .shorter_s = std::min(times[i], times[i + 1]),
                       .longer_s = std::max(times[i], times[i + 1])});
    }
    const auto [fast, slow, share] = largest_slowdown(parts);
    if (slow == nullptr) continue;
    const auto mean_step = [&](const Part& part) { return mean_of(step_s.subspan(part.first, part.end - part.first)); };
    const double longer = mean_step(*slow) / mean_step(*fast) - 1.0;
    if (longer <= kMostVariation) continue;
    signs.push_back(
        fmt::format("the machine itself {} {:.0f}% slower in {} than in {}, and the steps took {:.0f}% longer",
                    work.verb, share * 100, text_of(*slow), text_of(*fast), longer * 100));
  }
  return signs;
}

Value to_value(const Calibration& calibration) {
  if (calibration.samples.empty()) return {};
  Value steps = Value::array();
  for (const std::int64_t done : calibration.steps) steps.push_back(done);
  Value table = Value::Table{{"steps", std::move(steps)}};
  for (const Work& work : kWorks) table.set(work.key, samples_of(times_of(calibration, work)));
  return table;
}

Calibration calibration_in(const Value& table) {
  Calibration read;
  for (const double done : numbers_at(table, "steps")) read.steps.push_back(static_cast<std::int64_t>(done));
  read.samples.resize(read.steps.size());
  for (const Work& work : kWorks) {
    const std::vector<double> times = numbers_at(table, work.key);
    if (times.size() != read.samples.size() || std::ranges::any_of(times, [](double s) { return s <= 0.0; })) return {};
    for (std::size_t i = 0; i < times.size(); ++i) read.samples[i].*work.seconds = times[i];
  }
  return read;
}

std::vector<NamedSpeed> machine_speeds_in(const Value& result) {
  std::vector<NamedSpeed> speeds;
  if (const Value* const table = result.find("calibration")) {
    const Calibration calibration = calibration_in(*table);
    for (const Work& work : kWorks) {
      if (calibration.samples.empty()) continue;
      const Summary times = summarise(times_of(calibration, work));
      speeds.push_back({work.name, 1.0 / times.median, 1.0 / times.max, 1.0 / times.min});
    }
  }
  if (const Value* const table = result.find("disturbance")) {
    if (const auto mhz = disturbance_in(*table).gpu_mhz; mhz && *mhz > 0.0)
      speeds.push_back({"gpu_clock", *mhz, *mhz, *mhz});
  }
  return speeds;
}

}  // namespace roentgen::bench
