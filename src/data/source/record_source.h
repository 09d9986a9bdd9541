// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detects record files in a folder that may also contain other files.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace roentgen::data {

/// Returns the dataset reader (a name in source_list.h) for the record files in a folder; nullopt if there are none.
[[nodiscard]] std::optional<std::string_view> record_source(const std::filesystem::path& folder);

}  // namespace roentgen::data
