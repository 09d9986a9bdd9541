// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Names of the reductions of losses, as in graph texts and recipes.
#pragma once

#include <string_view>
#include <vector>

namespace roentgen::graph {

/// Names of the constants of Reduction (losses.h), in order: "mean_known", "mean_batch", "sum".
[[nodiscard]] const std::vector<std::string_view>& reduction_names();

}  // namespace roentgen::graph
