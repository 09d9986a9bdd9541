// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/bench_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bench/harness.h"
#include "cli/bench_cases.h"
#include "cli/launch.h"
#include "core/error.h"
#include "core/log.h"
#include "dist/launched.h"
#include "runtime/core_list.h"

namespace roentgen::cli {
namespace {

std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& word : names_in(text)) numbers.push_back(one_number(word));
  return numbers;
}

}  // namespace

std::vector<CaseOption> scaling_options(ScalingBench& bench) {
  return {
      {kScaling | kPredict,
       {.name = "--per-host",
        .target = &bench.per_host,
        .doc = "ranks of a host; 0 = scaling all, predict-scaling 1",
        .least = 0,
        .most = 4096}},
      {kScaling | kNodes, {.name = "--hosts", .target = &bench.hosts, .doc = "where, and how many on each: a:2,b:2"}},
      {kScaling, {.name = "--strong", .target = &bench.is_strong, .doc = "--batch is that of all ranks together"}},
      {kScaling | kPredict,
       {.name = "--no-overlap", .target = &bench.is_late, .doc = "gradients travel after backward"}},
      {kScaling,
       {.name = "--synthetic",
        .target = &bench.is_synthetic,
        .doc = "drawn batches, as without --data; refused beside it"}},
      {kScaling | kPredict,
       {.name = "--bucket-mb",
        .target = &bench.bucket_mb,
        .doc = "gradients that travel together, MiB",
        .least = 0.01,
        .most = 1024}},
      {kPredict, {.name = "--bandwidth", .target = &bench.bandwidth, .doc = "between hosts, a second: 1Gbit, 10GB"}},
      {kPredict, {.name = "--latency", .target = &bench.latency, .doc = "between hosts: 50us"}},
      {kPredict, {.name = "--host-bandwidth", .target = &bench.host_bandwidth, .doc = "within a host, a second"}},
      {kPredict, {.name = "--host-latency", .target = &bench.host_latency, .doc = "within a host"}},
      {kPredict,
       {.name = "--device-sd",
        .target = &bench.device_sd_percent,
        .doc = "with an emulated device: standard deviation of its steps, %",
        .least = 0,
        .most = 29}},
      {kScaling,
       {.name = "--trace",
        .target = &bench.trace_folder,
        .doc = "folder for a trace of each point, ranks-2.json, of its last round",
        .value_name = "DIR"}},
      {kScaling, {.name = "--repeat", .target = &bench.rounds, .doc = "interleaved rounds", .least = 1, .most = 1e6}}};
}

std::int64_t one_number(const std::string& text) {
  constexpr std::int64_t kMost = 65536;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= kMost) return number;
  throw ConfigError(error_text("cli.bench", "--ranks", fmt::format("a number from 1 to {}", kMost), text,
                               "--ranks 2, of scaling --ranks 1,2,4"));
}

Value run_predict_case(const ScalingBench& bench, const std::string& ranks, bench::PredictOptions options) {
  options.bucket_mb = bench.bucket_mb;
  options.is_overlapped = !bench.is_late;
  options.ranks = numbers_of(ranks);
  options.step.threads = options.step.threads == 0 ? runtime::physical_cores(runtime::usable_cores())
                                                   : bench::threads_of(options.step.threads, bench.may_oversubscribe);
  if (bench.per_host > 0) options.cluster.per_host = bench.per_host;
  options.cluster.between_hosts = {.bytes_per_s = bench::parse_bandwidth(bench.bandwidth),
                                   .latency_s = bench::parse_duration(bench.latency)};
  options.cluster.within_host = {.bytes_per_s = bench::parse_bandwidth(bench.host_bandwidth),
                                 .latency_s = bench::parse_duration(bench.host_latency)};
  options.device_sd = bench.device_sd_percent / 100.0;
  if (options.device_sd > 0.0 && options.device_images_per_s <= 0.0) {
    throw ConfigError(error_text("bench.predict", "--device-sd", "--device emulated:RATE with it", "a measured device",
                                 "it without: steps vary as they are measured"));
  }
  return bench::run_predict_scaling(options);
}

Value run_scaling_case(const ScalingBench& bench, const std::string& ranks, bench::ScalingOptions options) {
  options.bucket_mb = bench.bucket_mb;
  options.is_overlapped = !bench.is_late;
  options.trace_folder = bench.trace_folder;
  const bool is_emulated = options.device_images_per_s > 0.0;
  RankOptions ranked{.hosts = bench.hosts, .may_oversubscribe = bench.may_oversubscribe};
  if (!bench.reduce.empty()) ranked.reduce = bench.reduce;
  if (!bench.wire.empty()) ranked.wire = bench.wire;
  if (dist::launched_rank()) {
    log::set_level(log::Level::Warning);  // a point is one of many
    ranked.hosts.clear();
    ranked.threads = [&] { return is_emulated ? 0 : options.step.threads; };
    const CommandResult result = run_as_ranks(ranked, [&](dist::CommThread* group) {
      return CommandResult{.json = bench::run_scaling_point(options, group)};
    });
    return result.is_silent ? Value() : result.json;
  }
  bench::ScalingPlan plan{.ranks = numbers_of(ranks),
                          .per_host = bench.per_host,
                          .rounds = bench.rounds,
                          .is_strong = bench.is_strong,
                          .batch = options.step.batch};
  const std::int64_t most = plan.per_host > 0 ? plan.per_host : std::ranges::max(plan.ranks);
  const int cores = runtime::physical_cores(runtime::usable_cores());
  if (options.step.threads == 0) options.step.threads = std::max(1, cores / static_cast<int>(most));
  return bench::run_scaling(plan, [&](std::int64_t count, std::int64_t batch) {
    ranked.ranks = count;
    return run_for_json(ranked, {"--batch", fmt::to_string(batch), "--threads", fmt::to_string(options.step.threads)});
  });
}

}  // namespace roentgen::cli
