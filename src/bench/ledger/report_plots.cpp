// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

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

/// Draws series over an axis from 0 to their largest value.
std::string drawn(std::string title, Axis x, const std::string& y, std::vector<Series> series) {
  Axis upright = publish::axis_over(y, series, publish::Direction::Y);
  upright.low = 0.0;
  upright.high *= 1.05;
  return publish::svg_lines({.title = std::move(title),
                             .x = std::move(x),
                             .y = std::move(upright),
                             .series = std::move(series),
                             .legend = publish::Legend::Below,
                             .width_px = kWidth,
                             .height_px = kHeight});
}

/// Axis with a number of devices.
Axis devices_axis(const std::vector<Series>& series) {
  Axis axis = publish::axis_over("devices", series, publish::Direction::X);
  for (const double count : {1.0, 2.0, 4.0, 8.0, 12.0, 16.0}) {
    if (count >= axis.low && count <= axis.high) axis.ticks.push_back(count);
  }
  return axis;
}

std::optional<double> number_at(const StoredRecord& record, std::string_view path) {
  const Value* const value = record.value.find_path(path);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

/// Speeds by number of devices, of one line of the plots.
struct Line {
  std::string name{};
  std::map<std::int64_t, double> images_per_s{};
  std::map<std::int64_t, double> efficiency{};  ///< as far as records have it
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

/// A model with a size of its images.
struct Task {
  std::string model{};
  std::int64_t image_px = 0;
  friend bool operator<(const Task& a, const Task& b) {
    return std::tie(a.model, a.image_px) < std::tie(b.model, b.image_px);
  }
};

/// Own lines of a task, one for each hardware. A line has the speeds of equal settings. Of several, it is the one with
/// the most numbers of devices, then the fastest.
std::vector<Line> own_lines(const std::vector<OwnSpeed>& speeds, const Task& task) {
  std::map<std::string, std::map<std::string, Line>> by_hardware;
  for (const OwnSpeed& speed : speeds) {
    if (speed.model != task.model || speed.image_px != task.image_px || speed.devices > kMostDevices) continue;
    Line& line = by_hardware[speed.hardware][speed.settings];
    line.name = fmt::format("ours: {}, {}", speed.hardware, speed.conditions);
    double& fastest = line.images_per_s[speed.devices];
    if (speed.images_per_s <= fastest) continue;
    fastest = speed.images_per_s;
    if (speed.efficiency > 0.0) line.efficiency[speed.devices] = speed.efficiency;
  }
  const auto rank = [](const auto& entry) {
    const auto& rates = entry.second.images_per_s;
    return std::pair(rates.size(), rates.rbegin()->second);
  };
  std::vector<Line> result;
  for (const auto& [hardware, lines] : by_hardware) result.push_back(std::ranges::max_element(lines, {}, rank)->second);
  return result;
}

bool has_several_counts(const std::vector<Line>& lines) {
  return std::ranges::any_of(lines, [](const Line& line) { return line.images_per_s.size() > 1; });
}

/// Adds a point with its numbers as text.
void add_point(Series& series, std::int64_t devices, double value) {
  series.points.push_back({.x = static_cast<double>(devices), .y = value});
  series.point_texts.push_back(fmt::format("{} {}: {:.4g}", devices, devices == 1 ? "device" : "devices", value));
}

/// Throughput of a line, with the colour of this index in all plots.
Series throughput_of(const Line& line, std::size_t colour) {
  Series series{.name = line.name, .has_marks = true, .is_dashed = line.is_published, .colour = colour};
  for (const auto& [devices, speed] : line.images_per_s) add_point(series, devices, speed);
  return series;
}

/// Efficiency of a line with one device and others: as the records have it, or else by the speeds. No points otherwise.
Series efficiency_of(const Line& line, std::size_t colour) {
  Series series{.name = line.name, .has_marks = true, .is_dashed = line.is_published, .colour = colour};
  const auto one = line.images_per_s.find(1);
  if (one == line.images_per_s.end() || line.images_per_s.size() < 2) return series;
  for (const auto& [devices, speed] : line.images_per_s) {
    const auto known = line.efficiency.find(devices);
    const double computed = speed / one->second / static_cast<double>(devices);
    add_point(series, devices, known != line.efficiency.end() ? known->second : computed);
  }
  return series;
}

/// Measured limits of a machine.
struct Roof {
  double gflops = 0.0;
  double gb_per_s = 0.0;
};

/// False if two records are known to be of different machines, devices, numbers of threads or number formats, whose
/// limits differ.
bool may_share_limits(const StoredRecord& a, const StoredRecord& b) {
  return std::ranges::all_of(std::array{"host", "result.device", "result.threads", "result.dtype"},
                             [&](const char* path) {
                               const Value* const in_a = a.value.find_path(path);
                               const Value* const in_b = b.value.find_path(path);
                               return in_a == nullptr || in_b == nullptr || *in_a == *in_b;
                             });
}

/// Limits that a record measured itself, or else those of the latest record with equal limits that has them.
std::optional<Roof> roof_of(const StoredRecord& record, const std::vector<RecordGroup>& groups) {
  const auto limits_in = [](const StoredRecord& one) -> std::optional<Roof> {
    const auto gflops = number_at(one, "result.peak.gflops"), gb_per_s = number_at(one, "result.peak.gb_per_s");
    return gflops && gb_per_s ? std::optional(Roof{.gflops = *gflops, .gb_per_s = *gb_per_s}) : std::nullopt;
  };
  std::optional<Roof> roof = limits_in(record);
  if (roof) return roof;
  std::string date;
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    const std::optional<Roof> found = limits_in(last);
    if (!found || !may_share_limits(last, record)) continue;
    if (last.value.at("date").as_string() < date) continue;
    roof = found;
    date = last.value.at("date").as_string();
  }
  return roof;
}

/// Dots of the kinds of kernels of a record's profile that have both rates.
Series kernels_of(const StoredRecord& record) {
  Series kernels{.name = "kinds of kernels", .has_marks = true, .is_scatter = true};
  const Value* const profile = record.value.find_path("result.profile");
  if (profile == nullptr || !profile->is_array()) return kernels;
  for (const Value& row : profile->as_array()) {
    const Value* const gflops = row.find("gflops");
    const Value* const gb_per_s = row.find("gb_per_s");
    const Value* const kind = row.find("kind");
    if (gflops == nullptr || gb_per_s == nullptr || !gflops->is_number() || !gb_per_s->is_number()) continue;
    if (gflops->as_double() <= 0.0 || gb_per_s->as_double() <= 0.0) continue;
    kernels.points.push_back(
        {.x = std::log10(gflops->as_double() / gb_per_s->as_double()), .y = std::log10(gflops->as_double())});
    kernels.point_texts.push_back(kind != nullptr && kind->is_string() ? kind->as_string() : "");
  }
  return kernels;
}

std::string roofline_of(const RecordGroup& group, const std::vector<RecordGroup>& groups) {
  std::vector<Series> series{kernels_of(group.records.back())};
  const std::vector<PlotPoint>& points = series[0].points;
  if (points.empty()) return {};
  if (const std::optional<Roof> roof = roof_of(group.records.back(), groups)) {
    const auto [least, most] = std::ranges::minmax(points, {}, &PlotPoint::x);
    const double ridge = std::log10(roof->gflops / roof->gb_per_s);
    Series line{.name = fmt::format("measured limits: {:.4g} GFLOP/s, {:.4g} GB/s", roof->gflops, roof->gb_per_s),
                .is_dashed = true};
    for (const double x : {std::min(least.x, ridge - 1.0), ridge, std::max(most.x, ridge + 1.0)}) {
      line.points.push_back({.x = x, .y = std::min(std::log10(roof->gflops), std::log10(roof->gb_per_s) + x)});
    }
    series.push_back(std::move(line));
  }
  Axis x = publish::axis_over("FLOP per byte", series, publish::Direction::X);
  Axis y = publish::axis_over("GFLOP/s", series, publish::Direction::Y);
  x.is_log10 = y.is_log10 = true;
  return publish::svg_lines({.title = group.label,
                             .x = std::move(x),
                             .y = std::move(y),
                             .series = std::move(series),
                             .legend = publish::Legend::Below,
                             .width_px = kWidth,
                             .height_px = kHeight});
}

}  // namespace

std::string throughput_plots(const std::vector<RecordGroup>& groups) {
  std::string plots;
  for (const RecordGroup& group : groups) {
    Series series{.has_marks = true};
    for (std::size_t i = 0; i < group.records.size(); ++i) {
      if (const auto speed = number_at(group.records[i], "result.images_per_s")) {
        series.points.push_back({.x = static_cast<double>(i + 1), .y = *speed});
        series.point_texts.push_back(group.records[i].value.at("date").as_string());
      }
    }
    if (series.points.size() < 2) continue;
    Axis x = publish::axis_over("record, by date", {series}, publish::Direction::X);
    for (const double tick : publish::ticks(x.low, x.high)) {
      if (tick == std::floor(tick)) x.ticks.push_back(tick);
    }
    plots += drawn(group.label, std::move(x), "images/s", {series});
  }
  return plots;
}

std::string scaling_plots(const std::vector<OwnSpeed>& speeds) {
  std::set<Task> tasks;
  for (const OwnSpeed& speed : speeds) tasks.insert({.model = speed.model, .image_px = speed.image_px});
  std::string plots;
  for (const Task& task : tasks) {
    std::vector<Line> lines = own_lines(speeds, task);
    const std::vector<Line> published =
        task.image_px >= kPublishedImagePx ? published_lines(task.model) : std::vector<Line>{};
    const std::string title = task.image_px > 0 ? fmt::format("{}, {} px", task.model, task.image_px) : task.model;
    if (published.empty() && !has_several_counts(lines)) continue;
    lines.insert(lines.end(), published.begin(), published.end());
    std::vector<Series> rates, efficiencies;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      rates.push_back(throughput_of(lines[i], i));
      if (Series one = efficiency_of(lines[i], i); !one.points.empty()) efficiencies.push_back(std::move(one));
    }
    plots += drawn(title + ": throughput", devices_axis(rates), "images/s", rates);
    if (efficiencies.empty()) continue;
    plots += drawn(title + ": efficiency", devices_axis(efficiencies), "share of linear scaling", efficiencies);
  }
  return plots;
}

std::string roofline_plots(const std::vector<RecordGroup>& groups) {
  std::string plots;
  for (const RecordGroup& group : groups) plots += roofline_of(group, groups);
  return plots;
}

std::string energy_plot(const std::vector<RecordGroup>& groups) {
  Series series{.has_marks = true, .is_scatter = true};
  for (const RecordGroup& group : groups) {
    const StoredRecord& last = group.records.back();
    const auto speed = number_at(last, "result.images_per_s"),
               energy = number_at(last, "result.energy.images_per_joule");
    if (!speed || !energy) continue;
    series.points.push_back({.x = *speed, .y = *energy});
    series.point_texts.push_back(group.label);
  }
  if (series.points.empty()) return {};
  Axis x = publish::axis_over("images/s", {series}, publish::Direction::X);
  return drawn("Energy", std::move(x), "images per joule", {series});
}

}  // namespace roentgen::bench
