// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Matches several prediction files of the same images by image and label names, and averages their probabilities.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "score/prediction_file.h"

namespace roentgen::score {

/// Sorts the rows and columns of `file` like those of `model`. Images are matched as in data::NameIndex::find() and
/// keep the names that they have in `file`. Throws DataError with the counts unless the two files have the same images
/// and labels.
/// @param what, model_what names of the files, for errors
[[nodiscard]] PredictionFile in_order_of(const PredictionFile& model, std::string_view model_what, PredictionFile file,
                                         std::string_view what);

/// Reads prediction files and averages their probabilities with equal weights, in double. Images and their order are
/// those of the first file. A single file is returned unchanged. Throws DataError as in_order_of() does, and for an
/// empty list.
[[nodiscard]] PredictionFile read_mean_predictions(std::span<const std::string> paths);

/// Describes the files: "a.csv", or "mean of 3 files (a.csv, b.csv, c.csv)".
[[nodiscard]] std::string prediction_names(std::span<const std::string> paths);

}  // namespace roentgen::score
