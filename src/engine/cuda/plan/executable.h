// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Executables of the CUDA engine. They run on any device of runtime/stream.h that can run the kernels, also the
// emulated one.
#pragma once

#include <memory>

#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/plan/step_graph.h"
#include "engine/engine.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Device and library of convolutions for one executable, which takes ownership of them.
struct DeviceSetup {
  std::unique_ptr<runtime::Device> device;     ///< provides memory, streams and events
  std::unique_ptr<Convolutions> convolutions;  ///< provides plans of convolutions for the device
  std::unique_ptr<GraphRecorder> graphs;       ///< records CUDA graphs; null: every step queues its entries one by one
  int multiprocessors = 1;                     ///< number of multiprocessors of the device; affects the order of sums
};

/// Returns the options with defaults filled in. Without a type: bf16 in training, f32 in inference. Recompute "auto"
/// becomes "none", since each recomputed value would need a separate entry. Throws ConfigError for invalid options.
[[nodiscard]] CompileOptions settled(CompileOptions options);
/// See Engine::compile().
[[nodiscard]] std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options,
                                                          DeviceSetup setup);
/// Returns the plan that make_executable() would use (Engine::plan()). Allocates no device memory.
[[nodiscard]] Plan make_plan(const graph::Graph& graph, const CompileOptions& options, Convolutions& convolutions,
                             int multiprocessors);

}  // namespace roentgen::engine::cuda
