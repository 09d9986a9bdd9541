// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks where a command may write before it does any work.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace roentgen::cli {

/// The folders of --data, each "DIR" or "NAME=DIR".
[[nodiscard]] Folders data_folders(const std::vector<std::string>& data);

/// The run folder that contains `checkpoint`; empty where the file lies elsewhere.
[[nodiscard]] Paths run_of(const std::filesystem::path& checkpoint);

/// Throws ConfigError when an output among the options (is_output) is also an input. Inputs are a file that another
/// option names, one of folders.own, and everything in folders.read and folders.runs.
void check_apart(const std::vector<Option>& options, const Folders& folders);

/// Throws ConfigError or DataError when the file `path` could not be written. Reasons: it is in the data folder, no
/// regular file, or in a folder that is read-only or absent (and not about to be made). Touches nothing. An empty path
/// is fine.
void check_output_file(std::string_view option, const std::filesystem::path& path, const Folders& folders);
/// Calls check_output_file() for every output among the options, except for the folder that the command creates.
void check_output_files(const std::vector<Option>& options, const Folders& folders);

}  // namespace roentgen::cli
