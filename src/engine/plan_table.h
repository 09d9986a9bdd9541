// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Choices of a plan, as tables for people and for files.
#pragma once

#include <string_view>

#include "core/value.h"
#include "engine/plan.h"

namespace roentgen::engine {

/// [{name, algorithm, kernel, layout}]: for each pass of a convolution, its kernel and the layout of its result; null
/// if unknown.
[[nodiscard]] Value choice_table(const Plan& plan);
/// [{name, role}]: every batch norm of a training step, and what kernels around it compute of it (Plan::norm_roles).
[[nodiscard]] Value role_table(const Plan& plan);
/// [{name, kind, times}]: effects of the choice `fuse` of passes and fusions in training. Kind "pass": number of nodes
/// of `graph` changed; "fusion": number of places of `plan` where it is made.
[[nodiscard]] Value effect_table(const graph::Graph& graph, std::string_view fuse, const Plan& plan);

}  // namespace roentgen::engine
