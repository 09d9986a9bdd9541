// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads predictions from a csv file "Image Index,prob_<Label>,...", written by this or another program. It contains no
// true labels.
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
