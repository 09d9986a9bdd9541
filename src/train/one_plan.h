// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One plan for all ranks of a run: each rank chooses its kernels by the same inputs, and all compare the results.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace roentgen::engine {
struct ChoiceInputs;
class Engine;
class Executable;
struct Plan;
}  // namespace roentgen::engine

namespace roentgen::train {

class Ranks;

/// Plan::choices.
using KernelChoices = std::map<std::string, std::string>;

/// Choices that a run computes by, as they are stored with it.
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
  friend bool operator==(const RunPlan&, const RunPlan&) = default;
};

/// Inputs by which all ranks choose kernels: the least instruction set among their machines, and rank 0's threads.
/// All ranks call it. @param threads compute threads of this rank, at least 1
[[nodiscard]] engine::ChoiceInputs shared_choice_inputs(const Ranks& ranks, const engine::Engine& engine, int threads);

/// Does nothing where all ranks use the same choices and gradient layouts, so that gradients can be averaged in place.
/// In inference all must have the same plan, to the kernel. Otherwise all ranks throw ConfigError, naming rank and
/// host. All ranks must call it.
void require_one_plan(const Ranks& ranks, engine::Executable& executable);

}  // namespace roentgen::train
