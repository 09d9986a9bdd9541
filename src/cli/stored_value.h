// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What an earlier command wrote as JSON, read again.
#pragma once

#include <filesystem>

#include "core/value.h"
#include "eval/operating_points.h"

namespace roentgen::cli {

/// The JSON of a file; ConfigError naming it when it cannot be read or is none.
[[nodiscard]] Value read_json(const std::filesystem::path& path);

/// Thresholds and temperature that `roentgen eval --save-points` wrote, of whatever a score is of.
[[nodiscard]] eval::OperatingPoints read_points(const std::filesystem::path& path);

/// The same for one score an image; ConfigError for those of studies.
[[nodiscard]] eval::OperatingPoints read_image_points(const std::filesystem::path& path);

}  // namespace roentgen::cli
