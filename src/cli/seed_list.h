// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// --seeds 0,1,2 of `roentgen train`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace roentgen::cli {

/// "0,1,2" as numbers; ConfigError unless they are distinct whole numbers from 0 to 1e9.
[[nodiscard]] std::vector<std::int64_t> parse_seeds(std::string_view text);

}  // namespace roentgen::cli
