// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Data to evaluate a checkpoint on, possibly from another source than its training data.
#pragma once

#include <span>
#include <string>

#include "data/source/dataset.h"

namespace roentgen::score {

/// Loads the data set on which to evaluate a checkpoint.
/// @param source the checkpoint's recipe and labels, one source or several. Where a source cannot list its data,
///     another source that can replaces it, and an info line says so
/// @param overrides "data.key=value"; the source and tables that they name are kept
/// Throws as data::load_dataset(); errors about labels say that they are the checkpoint's.
[[nodiscard]] data::Dataset load_evaluated(data::SourceOptions& source, std::span<const std::string> overrides);

/// A line about labels that the data lack (data::absent_labels()); empty where there is none. Ends with a newline.
[[nodiscard]] std::string absent_text(const data::Dataset& dataset);

}  // namespace roentgen::score
