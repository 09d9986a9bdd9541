// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The known name that a misspelt one may mean, for errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen {

/// The candidate with the smallest edit distance to `text`, or empty when none is near (more than a third of its
/// letters apart).
[[nodiscard]] std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace roentgen
