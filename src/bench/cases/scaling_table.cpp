// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures the numbers of ranks ("points") of the case `scaling` in rounds, and makes the table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cases/scaling.h"
#include "bench/harness.h"
#include "bench/step_progress.h"
#include "core/comma_list.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

/// Results of all rounds for one number of ranks.
struct Point {
  std::int64_t ranks = 1;
  std::vector<Value> rounds;

  [[nodiscard]] std::vector<double> all(std::string_view key) const {
    std::vector<double> values;
    for (const Value& round : rounds) values.push_back(round.at(key).as_double());
    return values;
  }
  [[nodiscard]] double median(std::string_view key) const { return summarise(all(key)).median; }
  [[nodiscard]] bool is_oversubscribed() const { return rounds.back().at("oversubscribed").as_bool(); }
};

/// Returns the images/s per rank of `point` divided by the images/s per rank of `base`: the median over the rounds.
/// Null without a base, or if ranks of `point` or `base` share cores.
Value efficiency(const Point& point, const Point* base) {
  if (base == nullptr || point.is_oversubscribed() || base->is_oversubscribed()) return {};
  std::vector<double> ratios = point.all("images_per_s");
  const std::vector<double> before = base->all("images_per_s");
  const double more = static_cast<double>(point.ranks) / static_cast<double>(base->ranks);
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= before[i] * more;
  return Value(summarise(ratios).median);
}

// Median of the rounds' ratios: images/s of `point` over that of `base`. Null if ranks of one of them take turns.
Value speedup(const Point& point, const Point& base) {
  if (point.is_oversubscribed() || base.is_oversubscribed()) return {};
  std::vector<double> ratios = point.all("images_per_s");
  const std::vector<double> before = base.all("images_per_s");
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= before[i];
  return Value(summarise(ratios).median);
}

/// Points that a row is compared with; null: there is none.
struct Bases {
  const Point* one = nullptr;
  const Point* host = nullptr;
  /// With fixed cores: the first point.
  const Point* first = nullptr;
};

Value row_of(const Point& point, const Bases& bases) {
  const std::vector<double> speeds = point.all("images_per_s");
  const double count = static_cast<double>(speeds.size());
  const double mean = std::accumulate(speeds.begin(), speeds.end(), 0.0) / count;
  double squares = 0.0;
  for (const double speed : speeds) squares += (speed - mean) * (speed - mean);
  const Value& last = point.rounds.back();
  Value row = Value::table();
  row.set("ranks", point.ranks);
  row.set("hosts", last.at("hosts"));
  row.set("batch", last.at("batch"));
  row.set("images_per_s", summarise(speeds).median);
  row.set("mean", mean);
  row.set("sd", speeds.size() > 1 ? std::sqrt(squares / (count - 1.0)) : 0.0);
  row.set("min", std::ranges::min(speeds));
  row.set("max", std::ranges::max(speeds));
  if (bases.first != nullptr) {
    row.set("threads", last.at("threads"));
    row.set("speedup", speedup(point, *bases.first));
  } else {
    row.set("efficiency", efficiency(point, bases.one));
  }
  if (bases.host != nullptr) row.set("efficiency_of_host", efficiency(point, bases.host));
  row.set("oversubscribed", point.is_oversubscribed());
  for (const char* key : {"comm_exposed", "data_wait", "imbalance"}) row.set(key, point.median(key));
  for (const char* key : {"slowest_rank", "applied", "dropped", "staleness_mean", "staleness_max"}) {
    if (const Value* total = last.find(key)) row.set(key, *total);
  }
  row.set("kind", last.at("kind"));
  return row;
}

}  // namespace

std::string hosts_with_ranks(const std::string& hosts, std::int64_t ranks) {
  std::string list;
  if (hosts.empty()) return list;
  for (const std::string_view host : comma_parts(hosts)) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host.substr(0, host.find(':')), ranks);
  }
  return list;
}

Value run_scaling(const ScalingPlan& plan, const RunPoint& run_point) {
  require_at_least("rounds", plan.rounds, 1);
  RG_ASSERT(!plan.ranks.empty());
  std::vector<Point> points;
  for (const std::int64_t ranks : plan.ranks) {
    require_at_least("ranks", ranks, 1);
    if (plan.is_strong && plan.batch % ranks != 0) {
      throw ConfigError(error_text("bench.scaling", "--batch",
                                   fmt::format("a multiple of {}, the number of ranks", ranks),
                                   fmt::to_string(plan.batch), "another --batch, or other --ranks"));
    }
    points.push_back({.ranks = ranks});
  }
  RepeatProgress progress(plan.rounds * std::ssize(points));
  for (std::int64_t round = 0; round < plan.rounds; ++round) {
    for (Point& point : points) {
      point.rounds.push_back(run_point(point.ranks, plan.is_strong ? plan.batch / point.ranks : plan.batch));
      progress.add();
    }
  }
  const auto point_of = [&](std::int64_t ranks) {
    const auto found = std::ranges::find(points, ranks, &Point::ranks);
    return found == points.end() ? nullptr : &*found;
  };
  const Value& any = points.front().rounds.front();
  Value result = Value::table();
  for (const char* key : {"case", "model", "image_px", "threads", "overlap", "update", "servers"})
    result.set(key, any.at(key));
  for (const char* key : {"channels", "labels", "device", "dtype", "fuse", "algorithms", "recompute", "cold"}) {
    if (const Value* const setting = any.find(key)) result.set(key, *setting);
  }
  result.set("scaling", plan.is_strong ? "strong" : "weak");
  result.set("rounds", plan.rounds);
  Value& rows = result.set("points", Value::array());
  for (const Point& point : points) {
    rows.push_back(row_of(point, plan.cores > 0 ? Bases{.first = &points.front()}
                                                : Bases{.one = point_of(1), .host = point_of(plan.per_host)}));
  }
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
