// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formats --set options in errors and notes that tell the user how to name labels and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Returns "--set key=text" quoted for a shell. --set parses it to exactly this text.
[[nodiscard]] std::string set_option(std::string_view key, std::string_view text);

/// Returns "--set key=name" or "--set 'key=["name","name"]'" quoted for a shell. --set parses it to exactly these
/// names.
[[nodiscard]] std::string set_option(std::string_view key, const std::vector<std::string>& names);

}  // namespace roentgen::data
