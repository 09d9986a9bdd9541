// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "publish/svg_plot.h"

namespace roentgen::bench {
namespace {

using publish::Axis;
using publish::Plot;
using publish::PlotPoint;
using publish::Series;

constexpr double kWidth = 460.0;
constexpr double kHeight = 300.0;
constexpr std::int64_t kMostDevices = 16;

std::string drawn(std::string title, const std::string& x, const std::string& y, std::vector<Series> series,
                  bool is_from_zero) {
  Axis down = publish::axis_over(y, series, publish::Direction::Y);
  if (is_from_zero) {
    down.low = 0.0;
    down.high *= 1.05;
  }
  Axis across = publish::axis_over(x, series, publish::Direction::X);
  return publish::svg_lines({.title = std::move(title),
                             .x = std::move(across),
                             .y = std::move(down),
                             .series = std::move(series),
                             .has_low_legend = true,
                             .width_px = kWidth,
                             .height_px = kHeight});
}

std::optional<double> number_at(const StoredRecord& record, std::string_view path) {
  const Value* const value = record.value.find_path(path);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

/// Speeds by number of devices, of one line of the plots.
struct Line {
  std::string name{};
  std::map<std::int64_t, double> images_per_s{};
  bool is_published = false;
};

/// Published lines of a model with the most numbers of devices, at most two.
std::vector<Line> published_lines(std::string_view model) {
  std::map<std::string, Line> lines;
  for (const PublishedSpeed& row : published_speeds()) {
    if (row.model != model || row.devices > kMostDevices) continue;
    Line& line = lines[fmt::format("{} {}, {}", row.hardware, row.dtype, row.software)];
    line.images_per_s[row.devices] = row.images_per_s;
    line.is_published = true;
  }
  std::vector<Line> result;
  for (auto& [name, line] : lines) {
    line.name = name;
    if (line.images_per_s.size() > 1 && line.images_per_s.contains(1)) result.push_back(line);
  }
  std::ranges::stable_sort(result,
                           [](const Line& a, const Line& b) { return a.images_per_s.size() > b.images_per_s.size(); });
  constexpr std::size_t kMost = 2;
  result.resize(std::min(result.size(), kMost));
  return result;
}

std::vector<Line> own_lines(const std::vector<OwnSpeed>& speeds, std::string_view model) {
  std::map<std::string, Line> lines;
  for (const OwnSpeed& speed : speeds) {
    if (speed.model != model || speed.devices > kMostDevices) continue;
    Line& line = lines[speed.hardware];
    line.name = "ours: " + speed.hardware;
    double& fastest = line.images_per_s[speed.devices];
    fastest = std::max(fastest, speed.images_per_s);
  }
  std::vector<Line> result;
  for (const auto& [hardware, line] : lines) result.push_back(line);
  return result;
}

Series series_of(const Line& line, bool is_efficiency) {
  Series series{.name = line.name, .has_marks = true, .is_dashed = line.is_published};
  const double one = line.images_per_s.contains(1) ? line.images_per_s.at(1) : 0.0;
  for (const auto& [devices, speed] : line.images_per_s) {
    if (is_efficiency && one <= 0.0) continue;
    series.points.push_back(
        {.x = static_cast<double>(devices), .y = is_efficiency ? speed / one / static_cast<double>(devices) : speed});
  }
  return series;
}

/// Measured limits of a machine.
struct Roof {
  double gflops = 0.0;
  double gb_per_s = 0.0;
};

std::optional<Roof> roof_of(const std::vector<RecordGroup>& groups) {
  std::optional<Roof> roof;
  std::string date;
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    const auto gflops = number_at(last, "result.peak.gflops"), gb_per_s = number_at(last, "result.peak.gb_per_s");
    if (!gflops || !gb_per_s || last.value.at("date").as_string() < date) continue;
    roof = Roof{.gflops = *gflops, .gb_per_s = *gb_per_s};
    date = last.value.at("date").as_string();
  }
  return roof;
}

}  // namespace

std::string throughput_plots(const std::vector<RecordGroup>& groups) {
  std::string plots;
  for (const RecordGroup& group : groups) {
    Series series{.name = group.label, .has_marks = true};
    for (std::size_t i = 0; i < group.records.size(); ++i) {
      if (const auto speed = number_at(group.records[i], "result.images_per_s")) {
        series.points.push_back({.x = static_cast<double>(i + 1), .y = *speed});
      }
    }
    if (series.points.size() > 1) plots += drawn(group.label, "record", "images/s", {series}, true);
  }
  return plots;
}

std::string scaling_plots(const std::vector<OwnSpeed>& speeds) {
  std::set<std::string_view> models;
  for (const PublishedSpeed& row : published_speeds()) models.insert(row.model);
  std::string plots;
  for (const std::string_view model : models) {
    std::vector<Line> lines = own_lines(speeds, model);
    const std::vector<Line> published = published_lines(model);
    if (published.empty()) continue;
    lines.insert(lines.end(), published.begin(), published.end());
    std::vector<Series> rates, efficiencies;
    for (const Line& line : lines) {
      rates.push_back(series_of(line, false));
      efficiencies.push_back(series_of(line, true));
    }
    plots += drawn(fmt::format("{}: throughput", model), "devices", "images/s", rates, true);
    plots += drawn(fmt::format("{}: efficiency", model), "devices", "of linear scaling", efficiencies, true);
  }
  return plots;
}

std::string roofline_plot(const std::vector<RecordGroup>& groups) {
  Series kernels{.name = "kinds of kernels", .has_marks = true, .is_scatter = true};
  for (const RecordGroup& group : groups) {
    const Value* const profile = group.records.back().value.find_path("result.profile");
    if (profile == nullptr || !profile->is_array()) continue;
    for (const Value& row : profile->as_array()) {
      const Value* const gflops = row.find("gflops");
      const Value* const gb_per_s = row.find("gb_per_s");
      if (gflops == nullptr || gb_per_s == nullptr || !gflops->is_number() || !gb_per_s->is_number()) continue;
      kernels.points.push_back(
          {.x = std::log10(gflops->as_double() / gb_per_s->as_double()), .y = std::log10(gflops->as_double())});
    }
  }
  if (kernels.points.empty()) return {};
  std::vector<Series> series{kernels};
  if (const std::optional<Roof> roof = roof_of(groups)) {
    const auto [least, most] = std::ranges::minmax(kernels.points, {}, &PlotPoint::x);
    const double ridge = std::log10(roof->gflops / roof->gb_per_s);
    Series line{.name = "measured peak", .is_dashed = true};
    for (const double x : {std::min(least.x, ridge - 1.0), ridge, std::max(most.x, ridge + 1.0)}) {
      line.points.push_back({.x = x, .y = std::min(std::log10(roof->gflops), std::log10(roof->gb_per_s) + x)});
    }
    series.push_back(std::move(line));
  }
  return drawn("Roofline", "FLOP per byte, power of ten", "GFLOP/s, power of ten", std::move(series), false);
}

std::string energy_plot(const std::vector<RecordGroup>& groups) {
  Series series{.name = "records", .has_marks = true, .is_scatter = true};
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    const auto speed = number_at(last, "result.images_per_s"),
               energy = number_at(last, "result.energy.images_per_joule");
    if (speed && energy) series.points.push_back({.x = *speed, .y = *energy});
  }
  if (series.points.empty()) return {};
  return drawn("Energy", "images/s", "images per joule", {series}, true);
}

}  // namespace roentgen::bench
