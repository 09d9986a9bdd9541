// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Paths with links resolved.
#pragma once

#include <filesystem>
#include <string_view>

namespace roentgen::io {

/// The path with links resolved as far as it exists, without a slash at the end.
[[nodiscard]] std::filesystem::path resolved(const std::filesystem::path& path);

/// Whether `path` is the folder `folder` or lies in it, links resolved.
[[nodiscard]] bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Data folders are never written to: ConfigError when `path` is the folder `data` or lies in it. An empty `data` is
/// fine.
/// @param option "--out", for the error
void refuse_inside_data(std::string_view option, const std::filesystem::path& path, const std::filesystem::path& data);

}  // namespace roentgen::io
