// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The known name that a misspelt one may mean, for errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen {

/// Returns the candidate with the smallest edit distance to `text`. Empty if more than a third of the letters differ.
[[nodiscard]] std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace roentgen
