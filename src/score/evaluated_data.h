// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loads the data on which a checkpoint is evaluated. They may have another format than its training data.
#pragma once

#include <span>
#include <string>

#include "data/source/dataset.h"

namespace roentgen::score {

/// Loads the data set on which to evaluate a checkpoint. Throws as data::load_dataset() does; errors about labels say
/// that the labels come from the checkpoint.
/// @param source data options and labels of the checkpoint, for one data set or several. If a data set has another
/// format, the detected format replaces the recipe's, and a log line says so.
/// @param overrides settings "data.key=value" of the user; a format and tables that they set are never replaced
[[nodiscard]] data::Dataset load_evaluated(data::SourceOptions& source, std::span<const std::string> overrides);

/// Returns a line about labels of the model that the data do not have (data::absent_labels()); empty if there are none.
/// Ends with a newline.
[[nodiscard]] std::string absent_text(const data::Dataset& dataset);

}  // namespace roentgen::score
