// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The network that the cases with a network run, compiled for training or inference.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace roentgen::engine {
struct ChoiceInputs;
class Engine;
class Executable;
struct MeasuredChoice;
struct Plan;
}  // namespace roentgen::engine

namespace roentgen::bench {

struct StepOptions;

/// Compute threads, and batches that can be filled ahead.
struct StepTeam {
  int threads = 1;
  int slots = 2;
  /// Gradients that become ready together.
  std::size_t bucket_bytes = std::size_t{4} << 20U;
  /// Inputs of the choice of kernels; null: this machine and these threads.
  const engine::ChoiceInputs* choice = nullptr;
};

/// The model that the options name, or their graph, with a sigmoid loss and drawn weights; every slot is filled with
/// random images and labels, and slot 0 is bound. ConfigError on a graph of other sizes; what compile() throws.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_step(const StepOptions& options, engine::Engine& engine,
                                                               StepTeam team);

/// The plan of compile_step() with this batch, without its memory.
[[nodiscard]] engine::Plan plan_step(const StepOptions& options, engine::Engine& engine, StepTeam team);

/// Engine::measure_choices() of that network.
[[nodiscard]] std::vector<engine::MeasuredChoice> measure_step_choices(const StepOptions& options,
                                                                       engine::Engine& engine, StepTeam team);

/// As compile_step(), for inference: without loss and labels; one slot. Running statistics are drawn as well, so that
/// batch norms do something.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_inference(const StepOptions& options, engine::Engine& engine,
                                                                    int threads);
/// Its plan, without its memory.
[[nodiscard]] engine::Plan plan_inference(const StepOptions& options, engine::Engine& engine, int threads);

}  // namespace roentgen::bench
