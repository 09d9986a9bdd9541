// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output of `roentgen predict`: the csv row by row, and at the end a table for people and the rows of the JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/operating_points.h"
#include "eval/predictions.h"
#include "io/file.h"
#include "publish/heatmap_files.h"

namespace roentgen::cli {

/// Takes images in order, with raw probabilities. Memory: the table's first rows, and some 0.6 KB an image (of 14
/// labels) for the JSON. One thread.
class PredictionOutput {
 public:
  /// @param outputs of the model, for the temperature
  /// @param points thresholds, which raw probabilities are held against, and a temperature; or nothing
  /// @param csv empty: none. Opens it for writing: DataError on failure.
  PredictionOutput(std::vector<std::string> labels, eval::Outputs outputs,
                   const std::optional<eval::OperatingPoints>& points, const std::filesystem::path& csv);
  /// Adds image `number`, from 1. Returns the printed probabilities: after temperature scaling where there is one.
  std::vector<float> add(std::int64_t number, std::string_view image, std::span<const float> probabilities);
  /// Completes the csv under its final name.
  void finish();

  /// The first images with their most probable labels; '*': at or above its threshold. "" without any image.
  [[nodiscard]] std::string table(publish::ImageNames names) const;
  /// [{"image", "probabilities": [in the order of the labels, as the csv prints them], "called": [labels]}]; "called"
  /// with thresholds only.
  [[nodiscard]] Value take_rows() { return std::move(rows_); }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  struct Line {
    std::int64_t number = 0;
    std::string image;
    std::vector<std::string> cells;
  };
  std::vector<std::string> labels_;
  eval::Outputs outputs_;
  std::optional<double> temperature_;
  /// (K), or empty without points.
  std::vector<std::optional<double>> thresholds_;
  std::unique_ptr<io::AtomicFile> csv_;
  std::vector<Line> lines_;
  Value rows_ = Value::array();
  std::int64_t count_ = 0;
};

}  // namespace roentgen::cli
