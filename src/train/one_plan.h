// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Makes all ranks of a run use one plan: each rank chooses its kernels from the same inputs, and all compare the
// results.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace roentgen::graph {
class Graph;
}
namespace roentgen::engine {
struct ChoiceInputs;
struct CompileOptions;
class Engine;
class Executable;
struct Plan;
}  // namespace roentgen::engine

namespace roentgen::train {

class Ranks;

/// Type of Plan::choices.
using KernelChoices = std::map<std::string, std::string>;

/// Kernel choices of a run, as stored in its resume file.
struct RunPlan {
  KernelChoices choices;  ///< Plan::choices of rank 0
  /// Value of Plan::hash() on rank 0.
  std::string hash;
  /// Value of Plan::choice_revision; 0 in files of versions that chose kernels by timing.
  std::int64_t choice_revision = 0;
  /// SHA-256 of the file of train.choices; empty without such a file.
  std::string measured_sha256;
  /// Value of ChoiceInputs::instruction_set; empty in files of versions that chose kernels by timing.
  std::string instruction_set;
  /// Value of Engine::name(); empty in files of versions that had only the CPU engine.
  std::string engine;
  friend bool operator==(const RunPlan&, const RunPlan&) = default;
};

/// Returns the inputs from which all ranks choose kernels: the smallest instruction set of all machines, and the
/// threads of rank 0. All ranks must call it.
/// @param threads compute threads of this rank, at least 1
[[nodiscard]] engine::ChoiceInputs shared_choice_inputs(const Ranks& ranks, const engine::Engine& engine, int threads);

/// Calls Engine::compile() on all ranks. If the engine times kernels and `options` contain no choices, rank 0 compiles
/// first and all other ranks use its choices. All ranks must call it.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_on_ranks(const Ranks& ranks, engine::Engine& engine,
                                                                   const graph::Graph& graph,
                                                                   engine::CompileOptions options);

/// Throws ConfigError on all ranks, naming rank and host, unless all use the same kernel choices and gradient layouts.
/// Only then can gradients be averaged in place. For inference, the whole plans must be equal. All ranks must call it.
void require_one_plan(const Ranks& ranks, engine::Executable& executable);

}  // namespace roentgen::train
