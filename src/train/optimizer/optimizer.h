// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Optimizer: an update rule of the engine, selected by its name in recipes, with the memory of its state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace roentgen::train {

/// Returns the update rule of the optimizer `name`, with its options taken from `rules`. Throws ConfigError, which
/// names the known optimizers, the option out of range, or a flag that this optimizer lacks.
[[nodiscard]] engine::UpdateRule optimizer_rule(std::string_view name, const engine::OptimizerRules& rules);
/// Returns the names of all optimizers.
[[nodiscard]] std::vector<std::string_view> optimizer_names();
/// Returns one line of help about the optimizers: "as torch.optim's of these names; lars: sgd for large batches".
[[nodiscard]] std::string optimizer_meanings();

/// One kind of optimizer state, such as the momentum of all parameters.
struct OptimizerState {
  /// Name as in PyTorch: "momentum_buffer", "exp_avg" or "exp_avg_sq".
  std::string_view name;
  engine::Arena& arena;  ///< memory, in the layout of the parameters
};

/// Updates the parameters of an executable from its gradients. Not thread-safe.
class Optimizer {
 public:
  /// Creates the optimizer `name`, with zero state. Throws like optimizer_rule(). `executable` must outlive this
  /// object.
  Optimizer(std::string_view name, const engine::OptimizerRules& rules, engine::Executable& executable);

  /// Name of the optimizer in recipes.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// True if each layer's weights must be a separate UpdateRange.
  [[nodiscard]] bool is_layerwise() const { return engine::is_layerwise(rule_); }
  /// All state, which a checkpoint saves and restores. May be empty.
  [[nodiscard]] std::vector<OptimizerState> state();
  /// Size of all state in bytes.
  [[nodiscard]] std::size_t state_bytes() const;

  /// Numbers of one update, with the meanings of engine::UpdateWork.
  struct Step {
    std::span<const engine::UpdateRange> ranges;
    double lr = 0.0;
    std::int64_t step = 1;
    double scale = 1.0;
    double clip_norm = 0.0;
    const runtime::Event* after = nullptr;
  };
  /// Queues an update of the parameters.
  /// @param gradients gradients of the executable, or their sum over several batches
  void apply(const Step& step, const engine::Arena& gradients);

 private:
  std::string name_;
  engine::UpdateRule rule_;
  engine::Executable& executable_;
  std::vector<std::unique_ptr<engine::Arena>> state_;
  /// Pointers to the arenas of state_, as updates need them.
  std::vector<engine::Arena*> arenas_;
};

}  // namespace roentgen::train
