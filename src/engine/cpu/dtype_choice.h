// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What CompileOptions::dtype "auto" means on this machine.
#pragma once

#include <string>

#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// "f32" or "bf16": f32 unless a training step takes at most 0.95 of its time with bf16, best of three each. Compiles
/// and runs both, one after the other, on inputs of noise, and keeps the times with those of algorithms
/// (timing_store.h), by graph, batch and threads; machines without bf16 tiles are not asked. Inference is f32.
[[nodiscard]] std::string faster_dtype(const graph::Graph& graph, const CompileOptions& options);

}  // namespace roentgen::engine::cpu
