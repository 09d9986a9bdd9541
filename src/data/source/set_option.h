// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The --set option by which an error or a note tells how to name labels and files, ready for a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// "--set key=text" quoted for a shell; --set reads back exactly this text.
[[nodiscard]] std::string set_option(std::string_view key, std::string_view text);

/// "--set key=name" or "--set 'key=["name","name"]'" quoted for a shell; --set reads back exactly these names.
[[nodiscard]] std::string set_option(std::string_view key, const std::vector<std::string>& names);

}  // namespace roentgen::data
