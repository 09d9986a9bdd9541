// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `bench scaling`: starts a group of processes for each point, or is one of them. `bench predict-scaling`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/predict_scaling.h"
#include "bench/scaling.h"
#include "cli/bench_cases.h"
#include "core/value.h"

namespace roentgen::cli {

/// As on the command line.
struct ScalingBench {
  std::string hosts;
  /// As RankOptions'; empty: their default.
  std::string reduce;
  std::string wire;
  std::int64_t per_host = 0;
  std::int64_t rounds = bench::ScalingPlan{}.rounds;
  bool is_strong = false;
  bool is_late = false;
  bool is_synthetic = false;
  bool may_oversubscribe = false;
  /// Of predict-scaling.
  std::string bandwidth = "1Gbit";
  std::string latency = "50us";
  std::string host_bandwidth = "8GB";
  std::string host_latency = "3us";
  double device_sd_percent = 0.0;
  double bucket_mb = bench::ScalingOptions{}.bucket_mb;
  std::string trace_folder;
};

/// Options of scaling and predict-scaling alone, bound to `bench`.
[[nodiscard]] std::vector<CaseOption> scaling_options(ScalingBench& bench);
/// A number of ranks; ConfigError for other texts.
[[nodiscard]] std::int64_t one_number(const std::string& text);

/// All points, of `ranks` with commas; as one process of a group, the group's point. Null on ranks other than 0, which
/// have nothing to tell. `options.step.threads` 0: as many for a rank as the largest group leaves it. Throws as
/// bench::run_scaling, run_as_ranks() and run_for_json().
[[nodiscard]] Value run_scaling_case(const ScalingBench& bench, const std::string& ranks,
                                     bench::ScalingOptions options);

/// Predicts points of `ranks` with commas. Throws as bench::run_predict_scaling.
[[nodiscard]] Value run_predict_case(const ScalingBench& bench, const std::string& ranks,
                                     bench::PredictOptions options);

}  // namespace roentgen::cli
