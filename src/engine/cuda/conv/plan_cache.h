// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PlanCache: a file that stores the fastest convolution plans, so that each card has to be timed only once.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace roentgen::engine::cuda {

/// Convolution plans by problem, for one card and library version.
/// Not thread-safe. Several processes may share the file;
/// each sees only complete files. It is JSON: {"version": 1, "device": text, "plans": {ConvProblem::text():
/// ConvPlan::name()}}.
class PlanCache {
 public:
  /// @param file path of the cache; if empty, nothing is stored
  /// @param device card, compute capability and library version; a file that was written for a different one is not
  /// used
  PlanCache(std::filesystem::path file, std::string device);

  /// Stored plan for a problem, or nullopt. The first call reads the file. A file that is invalid or belongs to another
  /// device is ignored with one warning, and replaced by save().
  [[nodiscard]] std::optional<std::string> find(const std::string& problem);
  /// Remembers a plan for save().
  void add(const std::string& problem, const std::string& plan);
  /// Writes the added plans to the file, together with those that other processes have stored meanwhile. Atomic. Logs a
  /// warning if it fails.
  void save();
  /// Path of the cache file; empty if nothing is stored.
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  using Plans = std::map<std::string, std::string>;
  std::filesystem::path file_;
  std::string device_;
  std::optional<Plans> kept_;  // plans in the file; nullopt: not read yet
  Plans added_;
};

}  // namespace roentgen::engine::cuda
