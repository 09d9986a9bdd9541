// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Option `--set data.key=value` of commands that read labels but have no recipe.
#pragma once

#include <span>
#include <string>

#include "data/source/dataset.h"

namespace roentgen::cli {

/// Data options with the overrides applied to the defaults. Throws ConfigError as check_data_overrides() does.
[[nodiscard]] data::SourceOptions data_options(std::span<const std::string> overrides);
/// Throws ConfigError if an override sets a key outside of [data], or data.labels, because the predictions determine
/// the labels.
void check_data_overrides(std::span<const std::string> overrides);

}  // namespace roentgen::cli
