// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/convert_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.h"
#include "core/plural.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kOriginal = "original";  // size of images that are not resized
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRisk = 0.05;  // probability that any interval of a group misses its gain

/// State of the page cache in which formats are read.
struct Pages {
  const char* name;
  const char* speed;
};
constexpr std::array<Pages, 2> kPages{{{"warm", "warm_images_per_s"}, {"cold", "cold_images_per_s"}}};

std::vector<double> speeds_of(const Value& row, const Pages& pages) {
  std::vector<double> speeds;
  for (const Value& speed : row.at("samples").at(pages.speed).as_array()) speeds.push_back(speed.as_double());
  return speeds;
}

bool is_of_size(const Value& row, std::string_view size) { return row.at("size").as_string() == size; }

/// True if the advice may name the format for images of this size.
bool is_candidate(const Value& row, std::string_view size) {
  return is_of_size(row, size) && (size != kOriginal || row.at("same_batches").as_bool());
}

/// Number of formats that are compared with the files for this size; at least 1.
std::int64_t count_candidates(const Value::Array& rows, std::string_view size) {
  const auto count =
      std::count_if(rows.begin() + 1, rows.end(), [&](const Value& row) { return is_candidate(row, size); });
  return std::max<std::int64_t>(1, count);
}

FormatCost cost_of(std::int64_t images, const Value::Array& rows, std::size_t i, const Pages& pages) {
  const std::vector<double> files = speeds_of(rows[0], pages);
  const double level = 1.0 - kRisk / static_cast<double>(count_candidates(rows, rows[i].at("size").as_string()));
  return {.convert_s = rows[i].at("convert_s").as_double(),
          .files_pass_s = static_cast<double>(images) / summarise(files).median,
          .gain = gain_of(files, speeds_of(rows[i], pages), level)};
}

/// Epochs of reading that save `spent_s`; infinite if the format is not faster.
double epochs_to_save(double spent_s, double files_pass_s, double gain) {
  return gain > 1.0 ? spent_s / (files_pass_s * (1.0 - 1.0 / gain)) : kNever;
}

/// Number of trainings after which more than `epochs` have been read.
double trainings_for(double epochs, const PlannedUse& use) {
  return std::isfinite(epochs) ? std::floor(epochs / static_cast<double>(use.epochs)) + 1.0 : kNever;
}

bool is_shown(const Interval& gain) { return gain.low > 1.0; }
bool is_open(const Interval& gain) { return gain.low <= 1.0 && gain.high >= 1.0; }

Value finite_value(double number) { return std::isfinite(number) ? Value(number) : Value(); }

Value bounds_value(double low, double high) { return Value::Array{finite_value(low), finite_value(high)}; }

/// Interval of a gain; null if there is none.
Value interval_value(const Interval& gain) {
  return std::isfinite(gain.high) ? bounds_value(gain.low, gain.high) : Value();
}

/// Formats seconds with a suitable unit.
std::string time_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200.0) return fmt::format("{:.3g} min", seconds / 60.0);
  return fmt::format("{:.3g} h", seconds / 3600.0);
}

/// Formats a range of texts, such as "3 to 5", or one of two equal texts.
std::string range_text(const std::string& low, const std::string& high) {
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string number_text(double number) {
  return number < 1000.0 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

std::string gain_text(const Interval& gain) {
  return fmt::format("reads {} times as fast as the files (interval {} to {})", number_text(gain.estimate),
                     number_text(gain.low), number_text(gain.high));
}

/// A format with its cost and its time over the planned use.
struct Candidate {
  std::string form{};
  FormatCost cost{};
  PlannedTime time{};

  /// True if the advice should name this format rather than `other`.
  [[nodiscard]] bool is_better_than(const Candidate& other) const {
    if (is_shown(cost.gain) != is_shown(other.cost.gain)) return is_shown(cost.gain);
    const bool does_pay = time.records_s.estimate < time.files_s || other.time.records_s.estimate < time.files_s;
    const double own = trainings(), others = other.trainings();
    if (does_pay || own == others) return time.records_s.estimate < other.time.records_s.estimate;
    return own < others;
  }

  [[nodiscard]] std::string_view verdict() const {
    if (is_open(cost.gain)) return "no gain shown";
    if (time.records_s.high < time.files_s) return "convert";
    return time.records_s.low >= time.files_s ? "keep files" : "uncertain";
  }

 private:
  /// Trainings until the format pays by the estimate of its gain, as a fraction of a training.
  [[nodiscard]] double trainings() const {
    return epochs_to_save(cost.convert_s, cost.files_pass_s, cost.gain.estimate);
  }
};

std::string advice_text(const Candidate& best, const PlannedUse& use) {
  const Interval& gain = best.cost.gain;
  const PlannedTime& time = best.time;
  if (!std::isfinite(gain.high)) return "no gain shown: one round gives no interval; try --rounds 5";
  const std::string speed = fmt::format("{} {}", best.form, gain_text(gain));
  if (is_open(gain)) return fmt::format("no gain shown: {}; more --rounds narrow the interval", speed);
  if (!is_shown(gain)) return fmt::format("keep the files: {}", speed);
  const std::string plan = fmt::format("{} of {}, with {}", counted(use.trainings, "training"),
                                       counted(use.epochs, "epoch"), counted(1 + use.changes, "conversion"));
  const std::string input = fmt::format("input takes {} instead of {} for {}",
                                        range_text(time_text(time.records_s.low), time_text(time.records_s.high)),
                                        time_text(time.files_s), plan);
  const std::string trainings =
      range_text(fmt::format("{:.0f}", time.trainings.low), fmt::format("{:.0f}", time.trainings.high));
  const std::string even = fmt::format("converting pays from {} {} on, after {} epochs", trainings,
                                       trainings == "1" ? "training" : "trainings",
                                       range_text(number_text(time.epochs.low), number_text(time.epochs.high)));
  const std::string_view verdict = best.verdict();
  const std::string begin = verdict == "convert" ? fmt::format("convert to {}, which {}", best.form, gain_text(gain))
                            : verdict == "keep files" ? "keep the files: " + speed
                                                      : "uncertain: " + speed;
  return fmt::format("{}; {}; {}", begin, input, even);
}

Value advice_of(const Candidate& best, const Pages& pages, const std::string& size, const PlannedUse& use) {
  const PlannedTime& time = best.time;
  const bool has_gain = is_shown(best.cost.gain);
  return Value::Table{{"pages", pages.name},
                      {"size", size},
                      {"verdict", std::string(best.verdict())},
                      {"form", best.form},
                      {"gain", best.cost.gain.estimate},
                      {"gain_interval", interval_value(best.cost.gain)},
                      {"files_s", time.files_s},
                      {"records_s", bounds_value(time.records_s.low, time.records_s.high)},
                      {"trainings", has_gain ? bounds_value(time.trainings.low, time.trainings.high) : Value()},
                      {"epochs", has_gain ? bounds_value(time.epochs.low, time.epochs.high) : Value()},
                      {"text", advice_text(best, use)}};
}

}  // namespace

Interval gain_of(std::span<const double> files, std::span<const double> records, double level) {
  std::vector<double> logs;
  double sum = 0.0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    logs.push_back(std::log(records[i] / files[i]));
    sum += logs.back();
  }
  const std::optional<Interval> found = mean_of_differences(logs, level);
  if (!found) return {.estimate = std::exp(sum / static_cast<double>(logs.size())), .low = 0.0, .high = kNever};
  return {.estimate = std::exp(found->estimate), .low = std::exp(found->low), .high = std::exp(found->high)};
}

PlannedTime planned_time(const FormatCost& cost, const PlannedUse& use) {
  const double passes = static_cast<double>(use.trainings) * static_cast<double>(use.epochs);
  const double converting_s = static_cast<double>(1 + use.changes) * cost.convert_s;
  const double files_s = passes * cost.files_pass_s;
  const auto records_s = [&](double gain) { return converting_s + files_s / gain; };
  const auto epochs = [&](double gain) { return epochs_to_save(converting_s, cost.files_pass_s, gain); };
  const Bounds even{.low = epochs(cost.gain.high), .high = epochs(cost.gain.low)};
  return {.files_s = files_s,
          .records_s = {.estimate = records_s(cost.gain.estimate),
                        .low = records_s(cost.gain.high),
                        .high = records_s(cost.gain.low)},
          .epochs = even,
          .trainings = {.low = trainings_for(even.low, use), .high = trainings_for(even.high, use)}};
}

void add_gains(std::int64_t images, Value& rows) {
  Value::Array& formats = rows.as_array();
  for (std::size_t i = 1; i < formats.size(); ++i) {
    Value intervals = Value::table();
    for (const Pages& pages : kPages) {
      const FormatCost cost = cost_of(images, formats, i, pages);
      const PlannedTime once = planned_time(cost, {.epochs = 1});
      const std::string name = pages.name;
      formats[i].set(name + "_of_files", cost.gain.estimate);
      formats[i].set(name + "_break_even_epochs",
                     is_open(cost.gain) ? Value() : bounds_value(once.epochs.low, once.epochs.high));
      intervals.set(name, interval_value(cost.gain));
    }
    formats[i].set("intervals", std::move(intervals));
  }
}

Value convert_advice(std::int64_t images, const Value& rows, const PlannedUse& use) {
  const auto& formats = rows.as_array();
  std::vector<std::string> sizes;
  for (std::size_t i = 1; i < formats.size(); ++i) {
    const std::string& size = formats[i].at("size").as_string();
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  Value advice = Value::array();
  for (const Pages& pages : kPages) {
    for (const std::string& size : sizes) {
      std::optional<Candidate> best;
      for (std::size_t i = 1; i < formats.size(); ++i) {
        if (!is_candidate(formats[i], size)) continue;
        Candidate next{.form = formats[i].at("form").as_string(), .cost = cost_of(images, formats, i, pages)};
        next.time = planned_time(next.cost, use);
        if (!best || next.is_better_than(*best)) best = std::move(next);
      }
      if (best) advice.push_back(advice_of(*best, pages, size, use));
    }
  }
  return advice;
}

}  // namespace roentgen::bench
