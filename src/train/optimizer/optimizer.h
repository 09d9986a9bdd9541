// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Optimizer: an update rule of the engine under its name in recipes, with the arenas of its state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace roentgen::train {

/// Update rule of the optimizer `name`, with its options from those of all rules. ConfigError naming the known
/// optimizers, the option that is out of range, or a flag that only a related rule has.
[[nodiscard]] engine::UpdateRule optimizer_rule(std::string_view name, const engine::OptimizerRules& rules);
/// Names of all optimizers.
[[nodiscard]] std::vector<std::string_view> optimizer_names();
/// One line for people who choose one: "as torch.optim's of these names; lars: sgd for large batches".
[[nodiscard]] std::string optimizer_meanings();

/// Name and memory of one kind of state.
struct OptimizerState {
  /// Name as in torch: "momentum_buffer", "exp_avg", "exp_avg_sq".
  std::string_view name;
  engine::Arena& arena;  ///< laid out as the parameters
};

/// Updates the parameters of an executable by its gradients. One thread.
class Optimizer {
 public:
  /// Creates the optimizer of optimizer_rule(). State is zero at first. `executable` must outlive this.
  Optimizer(std::string_view name, const engine::OptimizerRules& rules, engine::Executable& executable);

  /// Name as in recipes.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether it needs every layer's weights as a separate range.
  [[nodiscard]] bool is_layerwise() const { return engine::is_layerwise(rule_); }
  /// All state, which a checkpoint saves and restores. May be empty.
  [[nodiscard]] std::vector<OptimizerState> state();
  /// Bytes of all state.
  [[nodiscard]] std::size_t state_bytes() const;

  /// Numbers of one update, as engine::UpdateWork has them.
  struct Step {
    std::span<const engine::UpdateRange> ranges;
    double lr = 0.0;
    std::int64_t step = 1;
    double scale = 1.0;
    double clip_norm = 0.0;
    const runtime::Event* after = nullptr;
  };
  /// Queues an update of the parameters.
  /// @param gradients the executable's, or their sum over several batches
  void apply(const Step& step, const engine::Arena& gradients);

 private:
  std::string name_;
  engine::UpdateRule rule_;
  engine::Executable& executable_;
  std::vector<std::unique_ptr<engine::Arena>> state_;
  /// Arenas of state_, in the form that updates take.
  std::vector<engine::Arena*> arenas_;
};

}  // namespace roentgen::train
