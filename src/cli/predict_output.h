// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Output of `roentgen predict`: the csv file row by row, and at the end a table for people and the rows of the JSON.
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

/// Receives the images in order, with their raw probabilities. Keeps the first rows of the table, and for the JSON
/// about 0.6 KB per image with 14 labels. For use by one thread.
class PredictionOutput {
 public:
  /// @param outputs type of the model's outputs, which temperature scaling needs
  /// @param points temperature, and thresholds to which raw probabilities are compared; nullopt: neither
  /// @param csv file to write; empty: none. Throws DataError if it cannot be opened.
  PredictionOutput(std::vector<std::string> labels, eval::Outputs outputs,
                   const std::optional<eval::OperatingPoints>& points, const std::filesystem::path& csv);
  /// Adds image `number`, counted from 1. Returns the probabilities that are printed: temperature-scaled if there is a
  /// temperature.
  std::vector<float> add(std::int64_t number, std::string_view image, std::span<const float> probabilities);
  /// Completes the csv file and gives it its final name.
  void finish();

  /// Returns a table of the first images with their most probable labels; '*' marks a probability at or above the
  /// threshold. Empty without images.
  [[nodiscard]] std::string table(publish::ImageNames names) const;
  /// JSON rows [{"image", "probabilities": [in the order of the labels, as in the csv], "called": [labels]}]. "called"
  /// exists only with thresholds.
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
  /// Threshold of each of K labels; empty without operating points.
  std::vector<std::optional<double>> thresholds_;
  std::unique_ptr<io::AtomicFile> csv_;
  std::vector<Line> lines_;
  Value rows_ = Value::array();
  std::int64_t count_ = 0;
};

}  // namespace roentgen::cli
