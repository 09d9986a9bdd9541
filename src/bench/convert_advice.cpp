// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/convert_advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/plural.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kOriginal = "original";  // size of images that are not resized

// A time with a unit that suits its size.
std::string time_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200.0) return fmt::format("{:.3g} min", seconds / 60.0);
  return fmt::format("{:.3g} h", seconds / 3600.0);
}

// True if the advice should name `a` rather than `b`. If one of them is faster than the files, the faster one is named,
// else the one that pays from fewer trainings on.
bool is_better(const PlannedTime& a, const PlannedTime& b) {
  const bool does_pay = a.records_s < a.files_s || b.records_s < b.files_s;
  const bool is_known = a.least_trainings || b.least_trainings;
  if (does_pay || !is_known) return a.records_s < b.records_s;
  if (!a.least_trainings || !b.least_trainings) return a.least_trainings.has_value();
  return *a.least_trainings < *b.least_trainings;
}

// Text of one advice. `form` is the format that takes the least time.
std::string advice_text(std::string_view form, const PlannedTime& time, const PlannedUse& use) {
  const std::string plan = fmt::format("{} of {}", counted(use.trainings, "training"), counted(use.epochs, "epoch"));
  const std::string least = time.least_trainings
                                ? fmt::format("it pays from {} on", counted(*time.least_trainings, "training"))
                                : "no format reads faster than the files";
  if (time.records_s < time.files_s) {
    return fmt::format("convert to {}: input takes {} instead of {} for {}, with {}; {}", form,
                       time_text(time.records_s), time_text(time.files_s), plan, counted(1 + use.changes, "conversion"),
                       least);
  }
  return fmt::format("keep the files: {} would take {} instead of {} for {}, with {}; {}", form,
                     time_text(time.records_s), time_text(time.files_s), plan, counted(1 + use.changes, "conversion"),
                     least);
}

}  // namespace

PlannedTime planned_time(std::int64_t images, const FormatSpeed& speed, const PlannedUse& use) {
  const double passes = static_cast<double>(use.trainings) * static_cast<double>(use.epochs);
  const double converting_s = static_cast<double>(1 + use.changes) * speed.convert_s;
  const double files_pass_s = static_cast<double>(images) / speed.files_images_per_s;
  const double pass_s = static_cast<double>(images) / speed.images_per_s;
  PlannedTime time{.files_s = passes * files_pass_s, .records_s = converting_s + passes * pass_s};
  const double won_s = static_cast<double>(use.epochs) * (files_pass_s - pass_s);  // in one training
  if (won_s > 0.0) time.least_trainings = static_cast<std::int64_t>(std::floor(converting_s / won_s)) + 1;
  return time;
}

Value convert_advice(std::int64_t images, const Value& rows, const PlannedUse& use) {
  struct Pages {
    const char* name;
    const char* key;
  };
  static constexpr std::array<Pages, 2> kPages{{{"warm", "warm_images_per_s"}, {"cold", "cold_images_per_s"}}};
  const auto& formats = rows.as_array();
  std::vector<std::string> sizes;
  for (std::size_t i = 1; i < formats.size(); ++i) {
    const std::string& size = formats[i].at("size").as_string();
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  Value advice = Value::array();
  for (const Pages& pages : kPages) {
    for (const std::string& size : sizes) {
      const Value* best = nullptr;
      PlannedTime least;
      for (std::size_t i = 1; i < formats.size(); ++i) {
        const bool is_exact = formats[i].at("same_batches").as_bool();
        if (formats[i].at("size").as_string() != size || (size == kOriginal && !is_exact)) continue;
        const PlannedTime time = planned_time(images,
                                              {.convert_s = formats[i].at("convert_s").as_double(),
                                               .files_images_per_s = formats[0].at(pages.key).as_double(),
                                               .images_per_s = formats[i].at(pages.key).as_double()},
                                              use);
        if (best != nullptr && !is_better(time, least)) continue;
        best = &formats[i];
        least = time;
      }
      if (best == nullptr) continue;
      const std::string& form = best->at("form").as_string();
      advice.push_back(
          Value(Value::Table{{"pages", pages.name},
                             {"size", size},
                             {"verdict", least.records_s < least.files_s ? "convert" : "keep files"},
                             {"form", form},
                             {"files_s", least.files_s},
                             {"records_s", least.records_s},
                             {"least_trainings", least.least_trainings ? Value(*least.least_trainings) : Value()},
                             {"text", advice_text(form, least, use)}}));
    }
  }
  return advice;
}

}  // namespace roentgen::bench
