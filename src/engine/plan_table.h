// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tables of the planner's choices, for printing and for files.
#pragma once

#include <string_view>

#include "core/value.h"
#include "engine/plan.h"

namespace roentgen::engine {

/// Table [{name, algorithm, kernel, layout}] with a row for each pass of a convolution: the kernel chosen and the
/// layout of its result. Unknown values are null.
[[nodiscard]] Value choice_table(const Plan& plan);
/// Table [{name, kind, implementation, flops, bytes}] with a row for each entry of a step, in plan order. `bytes` is
/// the size of the tensors that the entry reads and writes, each counted once, without scratch memory.
[[nodiscard]] Value entry_table(const Plan& plan);
/// Table [{name, role}] of every batch norm in a training step: the part of it that neighbouring kernels compute
/// (Plan::norm_roles).
[[nodiscard]] Value role_table(const Plan& plan);
/// Table [{name, kind, times}] of what the passes and fusions selected by `fuse` do in training. For kind "pass",
/// `times` is the number of nodes of `graph` that the pass changed. For kind "fusion", it is how often `plan` uses the
/// fusion.
[[nodiscard]] Value effect_table(const graph::Graph& graph, std::string_view fuse, const Plan& plan);

}  // namespace roentgen::engine
