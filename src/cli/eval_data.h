// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The data that a checkpoint is evaluated on, which may be others than it was trained on, and the lines that say what
// they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::cli {

/// Loads the data that a checkpoint is evaluated on.
/// @param source the checkpoint's recipe and labels, one source or several. It changes where a source cannot list its
///     data: another one that is found there takes its place, and an info line says so
/// @param overrides "data.key=value"; the source and tables that they name are kept
/// Throws as data::load_dataset(); errors about labels say that they are the checkpoint's.
[[nodiscard]] data::Dataset load_evaluated(data::SourceOptions& source, std::span<const std::string> overrides);

/// "labels: FILE, sha256 ..." a line a table.
[[nodiscard]] std::string labels_text(const data::Dataset& dataset);
/// [{"file", "sha256"}].
[[nodiscard]] Value tables_value(const data::Dataset& dataset);

/// "note: ..." a line each.
[[nodiscard]] std::string notes_text(const std::vector<std::string>& notes);

/// A line about labels of the model that the data lack; empty where there is none.
/// @param labels of the model
[[nodiscard]] std::string absent_text(const std::vector<std::string>& absent, std::int64_t labels);
[[nodiscard]] Value names_value(const std::vector<std::string>& names);

}  // namespace roentgen::cli
