// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of `roentgen train`, and the recipe that results from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/launch.h"
#include "train/recipe.h"
#include "train/trace_options.h"

namespace roentgen::cli {

/// Options and their values from the command line.
struct TrainOptions {
  std::filesystem::path recipe;
  std::vector<std::string> data;
  std::filesystem::path out;
  std::vector<std::string> overrides;
  std::string model;
  std::string init;
  std::string init_preset;
  std::string input_cores;
  /// Short forms of keys of [train]; empty: the recipe's.
  std::string device;
  std::string algorithms;
  std::string dtype;
  std::string recompute;
  std::string fuse;
  std::filesystem::path cache_dir;
  std::int64_t memory_mb = 0;
  bool is_partial = false;
  std::filesystem::path checkpoint_dir;
  bool is_resume = false;
  bool is_overwrite = false;
  std::int64_t stop_after = 0;
  bool is_keys = false;
  bool is_verbose = false;
  std::string seeds;
  bool is_traced = false;
  train::TraceOptions trace;
  RankOptions ranks;

  /// Bound to this object.
  [[nodiscard]] std::vector<Option> list();
  /// Throws ConfigError where options are missing or exclude each other.
  void check() const;
  /// The recipe with the options applied. Throws as train::read_recipe(), and for --data and --cache-dir.
  [[nodiscard]] train::Recipe read_recipe() const;
  /// train::device_note() of the recipe on this machine. Throws as read_recipe().
  [[nodiscard]] std::string device_note() const;
};

/// "0,1,2" as numbers; ConfigError unless they are distinct whole numbers from 0 to 1e9.
[[nodiscard]] std::vector<std::int64_t> parse_seeds(std::string_view text);

}  // namespace roentgen::cli
