// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where a command may write: checked before it works for minutes and then cannot.
#pragma once

#include <filesystem>
#include <string_view>

#include "cli/command.h"

namespace roentgen::cli {

/// Data folders are never written to: ConfigError when `path` is the folder `data` or lies in it.
/// @param option "--out", for the error
void refuse_inside_data(std::string_view option, const std::filesystem::path& path, const std::filesystem::path& data);

/// ConfigError or DataError when the file `path` could not be written: in the data folder, no regular file, in a folder
/// that is absent (and not about to be made) or closed. Leaves nothing behind. An empty path is fine.
void check_output_file(std::string_view option, const std::filesystem::path& path, const Folders& folders);

}  // namespace roentgen::cli
