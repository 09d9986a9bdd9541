// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One plan for all ranks of a run: each rank chooses its kernels by the same inputs, and all compare the results.
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

/// Plan::choices.
using KernelChoices = std::map<std::string, std::string>;

/// Kernel choices of a run, as they are stored with it.
struct RunPlan {
  KernelChoices choices;  ///< Plan::choices of rank 0
  /// Plan::hash() of rank 0.
  std::string hash;
  /// Plan::choice_revision; 0 in files of versions that chose by timing.
  std::int64_t choice_revision = 0;
  /// ChoiceFile::sha256 of train.choices; empty without.
  std::string measured_sha256;
  /// ChoiceInputs::instruction_set; empty in files of versions that chose by timing.
  std::string instruction_set;
  /// Engine::name(); empty in files of versions that had only the CPU engine.
  std::string engine;
  friend bool operator==(const RunPlan&, const RunPlan&) = default;
};

/// Inputs by which all ranks choose kernels: the least instruction set among their machines, and rank 0's threads.
/// All ranks call it. @param threads compute threads of this rank, at least 1
[[nodiscard]] engine::ChoiceInputs shared_choice_inputs(const Ranks& ranks, const engine::Engine& engine, int threads);

/// Engine::compile() on all ranks. Where the engine times kernels and `options` have no choices, rank 0 compiles first,
/// and its choices become those of all others. All ranks call it.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_on_ranks(const Ranks& ranks, engine::Engine& engine,
                                                                   const graph::Graph& graph,
                                                                   engine::CompileOptions options);

/// Does nothing when all ranks use the same choices and gradient layouts, so that gradients can be averaged in place.
/// In inference all plans must be equal in every kernel. Otherwise all ranks throw ConfigError, naming rank and host.
/// All ranks must call it.
void require_one_plan(const Ranks& ranks, engine::Executable& executable);

}  // namespace roentgen::train
