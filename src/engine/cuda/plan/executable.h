// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Executables of the CUDA engine, on any device of runtime/stream.h that runs its kernels.
#pragma once

#include <memory>

#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/plan/step_graph.h"
#include "engine/engine.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// One device as an executable needs it, which owns it.
struct DeviceSetup {
  std::unique_ptr<runtime::Device> device;     ///< memory, streams and events
  std::unique_ptr<Convolutions> convolutions;  ///< plans of convolutions on it
  std::unique_ptr<GraphRecorder> graphs;       ///< null: every step is queued entry by entry
  int multiprocessors = 1;                     ///< of the device: decides the order of sums
};

/// Options with defaults settled: without a type, bf16 in training and f32 in inference. Recompute "auto" becomes
/// "none", since each value would need an entry of its own. ConfigError for options that no plan can have.
[[nodiscard]] CompileOptions settled(CompileOptions options);
/// See Engine::compile().
[[nodiscard]] std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options,
                                                          DeviceSetup setup);
/// See Engine::plan(). Needs no memory of the device.
[[nodiscard]] Plan make_plan(const graph::Graph& graph, const CompileOptions& options, Convolutions& convolutions,
                             int multiprocessors);

}  // namespace roentgen::engine::cuda
