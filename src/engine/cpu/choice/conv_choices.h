// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Chooses the algorithms of a plan's convolutions before lowering. They come from the stored plan, the option
// `algorithms`, measurements or conv_rule() (conv_choice.h).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Algorithms of all convolutions of a plan.
class ConvChoices {
 public:
  /// Chooses an algorithm for every convolution that `is_lowered`, in training also for its gradients, and records it
  /// in plan.choices. The stored plan (CompileOptions::choices) has priority. Next comes the name in
  /// CompileOptions::algorithms, if that algorithm can compute the pass. "auto" means ChoiceInputs::measured in
  /// training, or else conv_rule(). "split2" means Split in the forward pass. With bf16 values, every name means Bf16,
  /// except "winograd", which means WinogradBf16.
  /// @param needs_gradient for each value: true if backward needs its gradient.
  /// Throws ConfigError if the stored plan lacks a choice. Throws it also if this machine cannot run a choice, or would
  /// run it only slowly (split products without tiles).
  ConvChoices(const graph::Graph& graph, const CompileOptions& options, DType dtype,
              const std::vector<bool>& is_lowered, const std::vector<bool>& needs_gradient, Plan& plan);

  /// Algorithm of a pass. Returns nullopt if the node is not a convolution or the plan lacks the pass.
  [[nodiscard]] std::optional<ConvAlgorithm> find(graph::NodeId id, ConvPass pass) const;
  /// Algorithm of a pass. The plan must have it.
  [[nodiscard]] ConvAlgorithm of(graph::NodeId id, ConvPass pass) const { return algorithms_.at({id, pass}); }

 private:
  std::map<std::pair<graph::NodeId, ConvPass>, ConvAlgorithm> algorithms_;
};

}  // namespace roentgen::engine::cpu
