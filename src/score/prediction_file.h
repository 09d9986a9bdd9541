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

/// Contents of a prediction file: probabilities of N images for K labels.
struct PredictionFile {
  /// (K) label names: the column names without their prefix "prob_".
  std::vector<std::string> labels;
  /// (N) distinct names of the images.
  std::vector<std::string> images;
  /// (N, K) finite probabilities.
  std::vector<float> probabilities;
};

/// Reads a prediction file. The first column named Image Index, image, path, file or filename (ignoring case) contains
/// the image names. Columns prob_<Label> contain probabilities; other columns are ignored. Throws DataError naming file
/// and line, never an image.
[[nodiscard]] PredictionFile read_prediction_file(const std::filesystem::path& path);

}  // namespace roentgen::score
