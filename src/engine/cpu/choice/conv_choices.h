// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Algorithms of a plan's convolutions: from the stored plan, the option `algorithms`, measurements or the rule
// (conv_choice.h). They are chosen before anything is lowered.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// The algorithms of all convolutions of a plan.
class ConvChoices {
 public:
  /// Chooses an algorithm for every convolution that `is_lowered`, in training also for its gradients, and records it
  /// in plan.choices. The stored plan (CompileOptions::choices) comes first. Then comes the name in
  /// CompileOptions::algorithms, where it is possible. "auto" means ChoiceInputs::measured in training, or else
  /// conv_rule(). "split2" is Split in the forward pass. With bf16 values each name is Bf16, and "winograd" is
  /// WinogradBf16. `needs_gradient`: of every value.
  /// Throws ConfigError for a choice that the stored plan lacks. Throws it also for a choice that this machine cannot
  /// follow, or only slowly (split products without tiles).
  ConvChoices(const graph::Graph& graph, const CompileOptions& options, DType dtype,
              const std::vector<bool>& is_lowered, const std::vector<bool>& needs_gradient, Plan& plan);

  /// Algorithm of a pass; nullopt for a node that is no convolution and for a pass that the plan does not have.
  [[nodiscard]] std::optional<ConvAlgorithm> find(graph::NodeId id, ConvPass pass) const;
  /// Algorithm of a pass that the plan has.
  [[nodiscard]] ConvAlgorithm of(graph::NodeId id, ConvPass pass) const { return algorithms_.at({id, pass}); }

 private:
  std::map<std::pair<graph::NodeId, ConvPass>, ConvAlgorithm> algorithms_;
};

}  // namespace roentgen::engine::cpu
