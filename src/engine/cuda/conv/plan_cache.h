// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PlanCache: a file of the fastest convolution plans, so that a card is timed once.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace roentgen::engine::cuda {

/// Plans by problem for one card and library version. One thread; several processes may share the file, each of which
/// sees it whole. The file is JSON: {"version": 1, "device": text, "plans": {ConvProblem::text(): ConvPlan::name()}}.
class PlanCache {
 public:
  /// @param file empty: nothing is kept
  /// @param device card, compute capability and library version: a file of another one is not used
  PlanCache(std::filesystem::path file, std::string device);

  /// Plan kept for a problem; nullopt: none. The first call reads the file. A file that is broken or another device's
  /// is ignored with one warning, and replaced by save().
  [[nodiscard]] std::optional<std::string> find(const std::string& problem);
  /// Remembers a plan for save().
  void add(const std::string& problem, const std::string& plan);
  /// Writes what was added, together with what the file holds by then, atomically. A warning where it cannot.
  void save();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }  ///< empty: nothing is kept

 private:
  using Plans = std::map<std::string, std::string>;
  std::filesystem::path file_;
  std::string device_;
  std::optional<Plans> kept_;  // nullopt: not read yet
  Plans added_;
};

}  // namespace roentgen::engine::cuda
