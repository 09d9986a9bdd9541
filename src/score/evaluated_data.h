// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Data to evaluate a checkpoint on, possibly from another source than its training data.
#pragma once

#include <span>
#include <string>

#include "data/source/dataset.h"

namespace roentgen::score {

/// Loads the data set on which to evaluate a checkpoint. Throws as data::load_dataset() does; errors about labels say
/// that the labels come from the checkpoint.
/// @param source recipe and labels of the checkpoint, for one source or several. If a source cannot list its data, a
///     source that can replaces it, and a log line says so.
/// @param overrides settings "data.key=value"; the source and tables that they name are never replaced
[[nodiscard]] data::Dataset load_evaluated(data::SourceOptions& source, std::span<const std::string> overrides);

/// Returns a line about labels that the data lack (data::absent_labels()); empty if there are none. Ends with a
/// newline.
[[nodiscard]] std::string absent_text(const data::Dataset& dataset);

}  // namespace roentgen::score
