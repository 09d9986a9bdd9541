// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What CompileOptions::dtype "auto" means on this machine.
#pragma once

#include <string>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// "f32" or "bf16": f32 unless a training step takes at most 0.95 of its time with bf16. Compiles and runs both, in
/// turns and one at a time, on inputs of noise; the best step of each counts. The times are kept with those of
/// algorithms (timing_store.h), by graph, batch and threads, and logged. Bf16, unmeasured, where f32 would not fit into
/// memory and bf16 does. F32 at once for inference and on machines without products of bf16 numbers.
[[nodiscard]] std::string faster_dtype(const graph::Graph& graph, const CompileOptions& options);

/// The same from times that were kept, without running anything; ConfigError where there are none.
[[nodiscard]] std::string known_dtype(const graph::Graph& graph, const CompileOptions& options);

/// The name under which the times are kept.
[[nodiscard]] std::string dtype_key(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
