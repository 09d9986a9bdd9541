// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Paths with links resolved.
#pragma once

#include <filesystem>
#include <string_view>

namespace roentgen::io {

/// Returns the path with links resolved as far as it exists, without a slash at the end.
[[nodiscard]] std::filesystem::path resolved(const std::filesystem::path& path);

/// True if `path` is the folder `folder` or lies in it, after links are resolved.
[[nodiscard]] bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Throws ConfigError if `path` is the folder `data` or lies in it, because data folders are never written to. An empty
/// `data` is allowed.
/// @param option option that gave the path, such as "--out", for the error
void refuse_inside_data(std::string_view option, const std::filesystem::path& path, const std::filesystem::path& data);

}  // namespace roentgen::io
