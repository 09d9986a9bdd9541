// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Several prediction files of the same images: matched by image and label name, and averaged.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "score/prediction_file.h"

namespace roentgen::score {

/// `file` with its rows and columns in the order of `model`. Images are matched as data::NameIndex::find() does; they
/// keep the names of `file`. DataError with the counts when either has an image or a label that the other lacks.
/// @param what, model_what the files, for errors
[[nodiscard]] PredictionFile in_order_of(const PredictionFile& model, std::string_view model_what, PredictionFile file,
                                         std::string_view what);

/// Reads the files and averages their probabilities, each of equal weight, summed in double: images and order are the
/// first file's. One file is read as it is. DataError as in_order_of(), and for no file.
[[nodiscard]] PredictionFile read_mean_predictions(std::span<const std::string> paths);

/// "a.csv", or "mean of 3 files (a.csv, b.csv, c.csv)".
[[nodiscard]] std::string prediction_names(std::span<const std::string> paths);

}  // namespace roentgen::score
