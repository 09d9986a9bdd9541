// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CPU executable: a lowered plan with its memory, ready to run.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// The options with what is left open filled in: threads as OpenMP gives them, and dtype "auto". ConfigError on what is
/// out of range.
[[nodiscard]] CompileOptions settled(CompileOptions options);

/// Lowers and plans memory, and takes none. See Engine::plan.
[[nodiscard]] Plan make_plan(const graph::Graph& graph, const CompileOptions& options);
/// Lowers, plans memory and binds. See Engine::compile.
[[nodiscard]] std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
