// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of `roentgen predict`, and the check of their combinations. No option changes preprocessing; the checkpoint
// defines it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/inference_options.h"

namespace roentgen::cli {

/// Choice of the labels for which an image gets a heat-map.
struct HeatmapChoice {
  enum class Kind : std::uint8_t { None, Top, All, Listed };
  Kind kind = Kind::None;
  /// Indices of the labels that the user listed; used only by the rule that takes a list.
  std::vector<std::size_t> labels{};
  /// Returns the indices of the labels that get a heat-map, given the probabilities of an image.
  [[nodiscard]] std::vector<std::size_t> of(const std::vector<float>& probabilities) const;
};

/// Options of `roentgen predict`; list() describes each one. An empty path means that the option is not given.
struct PredictOptions {
  std::vector<std::string> images;
  std::filesystem::path list_file;
  std::filesystem::path checkpoint;
  std::filesystem::path predictions;
  std::filesystem::path points;
  std::string heatmap;
  std::filesystem::path out;
  bool leaves_out_raw = false;
  bool shows_names = false;
  std::filesystem::path boxes;
  std::int64_t box_grid_px = 1024;
  std::filesystem::path masks;
  bool allows_overlap = false;
  InferenceOptions inference;

  /// Returns the command-line options, which set the fields of this object.
  [[nodiscard]] std::vector<Option> list();
  /// Throws ConfigError for options that cannot be combined.
  void check() const;
  /// Returns the choice of heat-maps that --heatmap and --out define, for a model with these labels. Throws ConfigError
  /// if --heatmap names a label that the model lacks.
  [[nodiscard]] HeatmapChoice choice(const std::vector<std::string>& labels) const;
  [[nodiscard]] bool has_heatmaps() const { return !out.empty() || !boxes.empty() || !masks.empty(); }
};

}  // namespace roentgen::cli
