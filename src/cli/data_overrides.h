// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// --set data.key=value of commands that read labels but have no recipe of their own.
#pragma once

#include <span>
#include <string>

#include "data/source/dataset.h"

namespace roentgen::cli {

/// Data options that the overrides ask for, without a recipe. ConfigError as check_data_overrides().
[[nodiscard]] data::SourceOptions data_options(std::span<const std::string> overrides);
/// Refuses overrides of other keys than those of [data], and of its labels, which the predictions say. ConfigError.
void check_data_overrides(std::span<const std::string> overrides);

}  // namespace roentgen::cli
