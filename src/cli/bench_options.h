// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What the options of roentgen bench hold. For bench.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/formats.h"
#include "bench/step.h"
#include "cli/bench_cases.h"
#include "cli/bench_ranks.h"
#include "cli/bench_scaling.h"

namespace roentgen::cli {

/// What the options hold.
struct BenchArguments {
  std::string case_name = "step";
  bool is_list = false;
  std::int64_t threads = 0;
  bool may_oversubscribe = false;
  bench::StepOptions step;
  /// A number, or several with commas; empty: the case's own.
  std::string batch;
  std::int64_t channels = 0;
  std::string device = "cpu";
  std::vector<std::string> data;
  std::string pipeline_text = "default";
  std::filesystem::path recipe;
  std::int64_t workers = 0;
  std::string input_cores;
  std::filesystem::path cache_dir;
  std::int64_t memory_mb = 0;
  bool is_cold = false;
  std::string storage;
  std::int64_t rounds = 3;
  std::string ranks = "1";
  std::int64_t updates = 100;
  ScalingBench scaling;
  RanksBench ranks_bench;
  std::filesystem::path work;
  std::int64_t stored_px = bench::FormatsOptions{}.stored_px;
  /// With commas; empty: the case's own.
  std::string models;
  /// Empty: the case's own.
  std::string algorithms;
  std::filesystem::path choices;
  std::string memory;
  std::filesystem::path scripts;
  /// With commas; empty: all.
  std::string peers;
  std::string python = "python3";
  /// Empty: as `python`.
  std::string tensorflow_python;
  std::string rates = "200,1000,5000";
  double cell_s = bench::FormatsOptions{}.cell_s;
};

/// All options; their targets are in `in`.
[[nodiscard]] std::vector<CaseOption> case_options(BenchArguments& in);

/// The one number in BenchArguments::batch, 0 where it is empty. ConfigError on several.
[[nodiscard]] std::int64_t batch_of(const BenchArguments& in);

}  // namespace roentgen::cli
