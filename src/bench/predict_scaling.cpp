// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/predict_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/harness.h"
#include "bench/options.h"
#include "core/error.h"
#include "core/random.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {

// Measures the times of training steps on one rank. Then runs a few more steps; the fastest shows when each gradient
// bucket is ready.
MeasuredStep measure_steps(const PredictOptions& options, engine::Executable& executable) {
  constexpr int kCourses = 3;
  MeasuredStep measured{.step_s = {}, .course = measure_course(executable, kCourses), .bucket_bytes = {}};
  for (const engine::Bucket& bucket : executable.buckets()) {
    measured.bucket_bytes.push_back(static_cast<double>(bucket.count) * sizeof(float));
  }
  if (options.device_images_per_s > 0.0) {
    constexpr std::int64_t kTimes = 1000;
    const double step_s = static_cast<double>(options.step.batch) / options.device_images_per_s;
    measured.step_s = normal_steps(step_s, options.device_sd, kTimes);
    return measured;
  }
  SgdSteps steps(executable);
  for (std::int64_t step = 0; step < options.step.warmup + options.step.steps; ++step) {
    const auto begin = Clock::now();
    steps.run();
    static_cast<void>(steps.loss());  // waits for the device
    if (step >= options.step.warmup) measured.step_s.push_back(seconds_since(begin));
  }
  return measured;
}

}  // namespace

double parse_bandwidth(std::string_view text) {
  constexpr Unit kUnits[] = {{"kbit", 125.0}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  if (const auto found = quantity_in(text, kUnits)) return *found;
  throw ConfigError(error_text("bench.predict", "bandwidth",
                               "a number with kbit, Mbit, Gbit, kB, MB or GB (per second)", text, "1Gbit"));
}

double parse_duration(std::string_view text) {
  constexpr Unit kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}};
  if (const auto found = quantity_in(text, kUnits)) return *found;
  throw ConfigError(error_text("bench.predict", "latency", "a number with us, ms or s", text, "50us"));
}

std::vector<double> normal_steps(double mean_s, double sd, std::int64_t count) {
  if (sd == 0.0) return {mean_s};
  const auto below = [](double deviations) { return 0.5 * std::erfc(-deviations / std::sqrt(2.0)); };
  constexpr double kMost = 8.0;
  constexpr int kHalvings = 60;
  std::vector<double> times;
  for (std::int64_t i = 0; i < count; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    double low = -kMost;
    double high = kMost;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (low + high) / 2.0;
      (below(middle) < part ? low : high) = middle;
    }
    times.push_back(mean_s * (1.0 + sd * low));
  }
  return times;
}

LinkTime allreduce_time(double bytes, std::int64_t ranks, const Cluster& cluster) {
  if (ranks <= 1) return {};
  LinkCost link = cluster.within_host;
  if (ranks > cluster.per_host) {
    const LinkCost& far = cluster.between_hosts;
    link = cluster.per_host == 1 ? far
                                 : LinkCost{.bytes_per_s = std::min(link.bytes_per_s, far.bytes_per_s),
                                            .latency_s = std::max(link.latency_s, far.latency_s)};
  }
  const auto n = static_cast<double>(ranks);
  return {.busy_s = 2.0 * (n - 1.0) / n * bytes / link.bytes_per_s, .late_s = 2.0 * (n - 1.0) * link.latency_s};
}

std::vector<double> simulate_steps(const MeasuredStep& measured, std::int64_t ranks, const Cluster& cluster,
                                   std::int64_t steps, bool is_overlapped, std::uint64_t seed) {
  RG_ASSERT(!measured.step_s.empty() && measured.course.buckets_ready.size() == measured.bucket_bytes.size());
  Random random(seed, RandomStage::Test);
  std::vector<double> times;
  for (std::int64_t step = 0; step < steps; ++step) {
    // The times of buckets are shares of the step time, so the slowest rank is the last to finish every bucket.
    double slowest_s = 0.0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const auto drawn =
          static_cast<std::size_t>(random.uniform(0.0, 1.0) * static_cast<double>(measured.step_s.size()));
      slowest_s = std::max(slowest_s, measured.step_s[std::min(drawn, measured.step_s.size() - 1)]);
    }
    double free_s = is_overlapped ? 0.0 : slowest_s;
    double arrived_s = slowest_s;
    for (std::size_t bucket = 0; bucket < measured.bucket_bytes.size(); ++bucket) {
      const double ready_s = measured.course.buckets_ready[bucket] * slowest_s;
      const LinkTime time = allreduce_time(measured.bucket_bytes[bucket], ranks, cluster);
      free_s = std::max(free_s, is_overlapped ? ready_s : 0.0) + time.busy_s;
      arrived_s = std::max(arrived_s, free_s + time.late_s);
    }
    times.push_back(arrived_s);
  }
  return times;
}

Value run_predict_scaling(const PredictOptions& options) {
  require_at_least("steps", options.step.steps, 1);
  require_at_least("threads", options.step.threads, 1);
  require_at_least("per-host", options.cluster.per_host, 1);
  const auto engine = engine::make_engine(options.step.device);
  const auto executable = compile_step(options.step, *engine,
                                       {.threads = options.step.threads,
                                        .slots = 1,
                                        .bucket_bytes = static_cast<std::size_t>(options.bucket_mb * 1048576.0)});
  const MeasuredStep measured = measure_steps(options, *executable);

  Value result = settings_of("predict-scaling", options.step, {"model", "image_px", "threads"});
  result.set("overlap", options.is_overlapped);
  result.set("device", options.device_images_per_s > 0.0 ? "emulated" : "measured");
  result.set("bandwidth_mb_per_s", options.cluster.between_hosts.bytes_per_s * 1e-6);
  result.set("latency_us", options.cluster.between_hosts.latency_s * 1e6);
  result.set("host_bandwidth_mb_per_s", options.cluster.within_host.bytes_per_s * 1e-6);
  result.set("host_latency_us", options.cluster.within_host.latency_s * 1e6);
  result.set("step_ms_alone", summary_ms(measured.step_s));
  result.set("gradient_mib",
             std::accumulate(measured.bucket_bytes.begin(), measured.bucket_bytes.end(), 0.0) / 1048576.0);
  Value& points = result.set("points", Value::array());
  constexpr std::int64_t kSteps = 2000;
  constexpr std::uint64_t kSeed = 1;
  const auto mean_s = [&](std::int64_t ranks, const Cluster& cluster) {
    const auto times = simulate_steps(measured, ranks, cluster, kSteps, options.is_overlapped, kSeed);
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(kSteps);
  };
  const double alone_s = mean_s(1, options.cluster);
  Cluster free = options.cluster;
  free.between_hosts = free.within_host = {.bytes_per_s = 1e30, .latency_s = 0.0};
  for (const std::int64_t ranks : options.ranks) {
    require_at_least("ranks", ranks, 1);
    const double step_s = mean_s(ranks, options.cluster);
    const double bytes = std::accumulate(measured.bucket_bytes.begin(), measured.bucket_bytes.end(), 0.0);
    const LinkTime comm = allreduce_time(bytes, ranks, options.cluster);
    points.push_back(Value::Table{{"ranks", ranks},
                                  {"hosts", (ranks + options.cluster.per_host - 1) / options.cluster.per_host},
                                  {"batch", options.step.batch},
                                  {"images_per_s", static_cast<double>(ranks * options.step.batch) / step_s},
                                  {"efficiency", alone_s / step_s},
                                  {"step_ms", step_s * 1e3},
                                  {"compute_ms", mean_s(ranks, free) * 1e3},
                                  {"comm_ms", (comm.busy_s + comm.late_s) * 1e3},
                                  {"kind", "predicted"}});
  }
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
