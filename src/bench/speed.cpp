// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/harness.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

/// Steps slower than this multiple of the median may belong to a burst.
constexpr double kSlow = 1.05;
constexpr std::size_t kFewestOfBurst = 3;
constexpr std::size_t kBlocks = 10;

double median_of_times(std::span<const double> times) { return summarise(times).median; }

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Speed speed_of(std::span<const double> step_s, double images) {
  RG_ASSERT(!step_s.empty());
  std::vector<double> speeds;
  for (const double s : step_s) speeds.push_back(images / s);
  const double mean_speed = mean_of(speeds);
  const double centre = median_of_times(speeds);
  double squares = 0.0;
  std::vector<double> deviations;
  for (const double speed : speeds) {
    squares += (speed - mean_speed) * (speed - mean_speed);
    deviations.push_back(std::abs(speed - centre));
  }
  const auto count = static_cast<double>(speeds.size());
  const double deviation = std::sqrt(squares / count);
  const auto [slowest, fastest] = std::ranges::minmax(speeds);
  constexpr double kNormal = 1.4826;  // makes the median deviation an estimate of a normal distribution's deviation
  return {.steps = speeds.size(),
          .mean = images / mean_of(step_s),
          .uncertainty = deviation / std::sqrt(count),
          .jitter = kNormal * median_of_times(deviations),
          .min = slowest,
          .max = fastest,
          .variation = deviation / mean_speed};
}

Value to_value(const Speed& speed) {
  return Value::Table{{"mean", speed.mean},
                      {"uncertainty", speed.uncertainty},
                      {"jitter", speed.jitter},
                      {"min", speed.min},
                      {"max", speed.max},
                      {"variation", speed.variation},
                      {"steps", static_cast<std::int64_t>(speed.steps)}};
}

std::string tf_cnn_text(const Speed& speed) {
  return fmt::format("images/sec: {:.1f} +/- {:.1f} (jitter = {:.1f})", speed.mean, speed.uncertainty, speed.jitter);
}

std::optional<std::size_t> settled_from(std::span<const double> step_s) {
  const std::size_t block = step_s.size() / kBlocks;
  if (block < 2) return std::nullopt;
  const double end = median_of_times(step_s.subspan(step_s.size() / 2));
  std::size_t first = kBlocks;
  while (first > 0) {
    const double middle = median_of_times(step_s.subspan((first - 1) * block, block));
    if (std::abs(middle / end - 1.0) > kMostVariation) break;
    --first;
  }
  if (first > kBlocks / 2) return std::nullopt;
  return first * block;
}

std::vector<Burst> bursts_of(std::span<const double> step_s) {
  std::vector<Burst> bursts;
  if (step_s.empty()) return bursts;
  const double usual = median_of_times(step_s);
  for (std::size_t i = 0; i < step_s.size();) {
    std::size_t end = i;
    while (end < step_s.size() && step_s[end] > kSlow * usual) ++end;
    if (end - i >= kFewestOfBurst) {
      bursts.push_back({i, end - i, median_of_times(step_s.subspan(i, end - i)) / usual});
    }
    i = std::max(end, i + 1);
  }
  return bursts;
}

std::vector<std::string> signs_of_unsteady_speed(std::span<const double> step_s) {
  std::vector<std::string> signs;
  const Speed speed = speed_of(step_s, 1.0);
  if (speed.variation > kMostVariation) {
    signs.push_back(fmt::format("the speed of the steps varies by {:.1f}%, more than {:.0f}%", speed.variation * 100,
                                kMostVariation * 100));
  }
  for (const Burst& burst : bursts_of(step_s)) {
    signs.push_back(fmt::format("steps {} to {} took {:.0f}% longer than the median step", burst.first + 1,
                                burst.first + burst.steps, (burst.slowdown - 1) * 100));
  }
  if (step_s.size() >= 2 * kBlocks && !settled_from(step_s)) {
    signs.emplace_back("the speed still changed in the second half of the run; use more warm-up steps");
  }
  return signs;
}

}  // namespace roentgen::bench
