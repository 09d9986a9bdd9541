// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Record files of a folder, whatever else it contains.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace roentgen::data {

/// The source (a name of source_list.h) that reads the record files of a folder; nullopt where there are none.
[[nodiscard]] std::optional<std::string_view> record_source(const std::filesystem::path& folder);

}  // namespace roentgen::data
