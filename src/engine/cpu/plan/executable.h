// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CPU executable: a lowered plan with its memory, ready to run.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Returns the options with defaults filled in: the number of threads that OpenMP grants, and a type for dtype "auto".
/// Throws ConfigError for a value out of range.
[[nodiscard]] CompileOptions settled(CompileOptions options);

/// Lowers the graph and plans memory without allocating it. See Engine::plan.
[[nodiscard]] Plan make_plan(const graph::Graph& graph, const CompileOptions& options);
/// Lowers the graph, plans and allocates memory, and binds the kernels. See Engine::compile().
[[nodiscard]] std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
