// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What an earlier command wrote as JSON, read again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/value.h"
#include "data/transform/preprocess.h"
#include "eval/operating_points.h"

namespace roentgen::cli {

/// The JSON of a file; ConfigError naming it when it cannot be read or is none.
[[nodiscard]] Value read_json(const std::filesystem::path& path);

/// What a network is fed, in words, for eval::OperatingPoints::input. `views`: of data::test_views.
[[nodiscard]] std::string input_text(const data::Preprocess& preprocess, std::string_view views);

/// Thresholds and temperature that `roentgen eval --save-points` wrote, of whatever a score is of. ConfigError where
/// they were fitted on another input; `input` is empty where it is not known, and then nothing is compared.
[[nodiscard]] eval::OperatingPoints read_points(const std::filesystem::path& path, std::string_view input);

/// The same for one score an image; ConfigError for those of studies.
[[nodiscard]] eval::OperatingPoints read_image_points(const std::filesystem::path& path, std::string_view input);

}  // namespace roentgen::cli
