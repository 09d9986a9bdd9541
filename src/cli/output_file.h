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

/// Returns limits that protect the data folders in `data`, each given as "DIR" or "NAME=DIR".
[[nodiscard]] Folders data_folders(const std::vector<std::string>& data);

/// Returns the run folder that contains `checkpoint`; empty if the file lies in no run folder.
[[nodiscard]] Paths run_of(const std::filesystem::path& checkpoint);

/// Throws ConfigError if an output option (is_output) names an input. Inputs are files that another option names,
/// `folders.own`, and everything in folders.read and folders.runs.
void check_apart(const std::vector<Option>& options, const Folders& folders);

/// Throws ConfigError or DataError if the file `path` could not be written. Reasons: the path lies in the data folder
/// or is no regular file. Or its folder is read-only, or does not exist and will not be created. Changes nothing on
/// disk. Accepts an empty path.
void check_output_file(std::string_view option, const std::filesystem::path& path, const Folders& folders);
/// Calls check_output_file() for every output option, except for the folder that the command creates.
void check_output_files(const std::vector<Option>& options, const Folders& folders);

}  // namespace roentgen::cli
