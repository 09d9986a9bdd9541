// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Id of a run, which distinguishes it from earlier and later runs in the same folder.
#pragma once

#include <string>
#include <string_view>

#include "train/run_folder.h"

namespace roentgen::train {

inline constexpr std::string_view kRunIdKey = "run_id";  ///< key of the id in environment.json

/// Returns 64 random bits as 16 hex digits.
[[nodiscard]] std::string new_run_id();

/// Returns the id of the run in the folder, from its environment.json. Empty if the folder has no run, if an older
/// version started the run, or if the file cannot be read.
[[nodiscard]] std::string run_id(const RunFolder& run);

/// Adds an id to environment.json if the run has none. Throws DataError if the file cannot be written.
void ensure_run_id(const RunFolder& run);

}  // namespace roentgen::train
