// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of `roentgen train`, and the recipe that results from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/launch.h"
#include "train/recipe.h"
#include "train/trace_options.h"

namespace roentgen::cli {

/// Values of the command-line options.
struct TrainOptions {
  std::filesystem::path recipe;
  std::vector<std::string> data;
  std::filesystem::path out;
  std::vector<std::string> overrides;
  std::string model;
  std::string init;
  std::string init_preset;
  std::string input_cores;
  /// Values that replace keys of [train]; empty: the recipe's value.
  std::string device;
  std::string devices;
  std::string algorithms;
  std::string dtype;
  std::string recompute;
  std::string fuse;
  std::string bucket_mb;
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
  std::vector<std::string> sweep;
  bool is_traced = false;
  train::TraceOptions trace;
  RankOptions ranks;

  /// Returns the command-line options, which set the fields of this object.
  [[nodiscard]] std::vector<Option> list();
  /// Throws ConfigError if options are missing or exclude each other.
  void check() const;
  /// Reads the recipe and applies the options. Throws like train::read_recipe(), and for bad values of --data and
  /// --cache-dir.
  /// @param swept "section.key=value" of one point of --sweep
  [[nodiscard]] train::Recipe read_recipe(std::span<const std::string> swept = {}) const;
  /// Returns train::device_note() for the recipe on this machine. Throws like read_recipe().
  [[nodiscard]] std::string device_note() const;
};

/// Parses a list of seeds such as "0,1,2". Throws ConfigError unless they are distinct whole numbers from 0 to 1e9.
[[nodiscard]] std::vector<std::int64_t> parse_seeds(std::string_view text);

}  // namespace roentgen::cli
