// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predictions from a csv "Image Index,prob_<Label>,...", of this or another program. The truth comes from a label
// table.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roentgen::score {

/// Probabilities of N images for K labels, as in a file.
struct PredictionFile {
  /// Label names: the column names without their prefix "prob_" (K).
  std::vector<std::string> labels;
  /// (N) distinct
  std::vector<std::string> images;
  /// (N, K) finite
  std::vector<float> probabilities;
};

/// Reads a prediction file. The first column named Image Index, image, path, file or filename (ignoring case) names the
/// images; all columns prob_<Label> are probabilities; others are ignored. DataError naming file and line, never an
/// image.
[[nodiscard]] PredictionFile read_prediction_file(const std::filesystem::path& path);

}  // namespace roentgen::score
