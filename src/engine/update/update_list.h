// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of update rules. A rule is a file of this folder with its options, and one kernel per engine in
// engine/<name>/update/<rule>.cpp. A missing kernel is a link error.
#pragma once

#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "engine/update/accumulate.h"
#include "engine/update/adam.h"
#include "engine/update/average.h"
#include "engine/update/lars.h"
#include "engine/update/rms_prop.h"
#include "engine/update/sgd.h"
#include "engine/update/update.h"

/// Rules that optimizers of recipes are.
#define RG_OPTIMIZER_LIST(X) X(Sgd) X(Adam) X(Lars) X(RmsProp)
/// List of all rules.
#define RG_UPDATE_LIST(X) RG_OPTIMIZER_LIST(X) X(Average) X(Accumulate)

namespace roentgen::engine {

/// Types after the first one.
template <typename, typename... Rules>
struct RuleTypes {
  using All = std::tuple<Rules...>;    ///< one of each
  using Any = std::variant<Rules...>;  ///< one of them
};
#define RG_RULE_TYPE(Rule) , Rule
/// Options of all rules that optimizers are.
using OptimizerRules = RuleTypes<void RG_OPTIMIZER_LIST(RG_RULE_TYPE)>::All;
/// One rule of the list, with its options.
using UpdateRule = RuleTypes<void RG_UPDATE_LIST(RG_RULE_TYPE)>::Any;
#undef RG_RULE_TYPE

/// Names of the state that a rule keeps in arenas laid out as its target, in the order of UpdateWork::state.
[[nodiscard]] inline std::vector<std::string_view> state_of(const UpdateRule& rule) {
  return std::visit([](const auto& one) { return one.state(); }, rule);
}
/// The rule changes parameters by gradients: it is one of RG_OPTIMIZER_LIST.
[[nodiscard]] inline bool is_optimizer(const UpdateRule& rule) {
  return !std::holds_alternative<Average>(rule) && !std::holds_alternative<Accumulate>(rule);
}
/// The rule wants every layer's weights as a range of their own.
[[nodiscard]] inline bool is_layerwise(const UpdateRule& rule) {
  return std::visit([](const auto& one) { return one.kIsLayerwise; }, rule);
}

}  // namespace roentgen::engine
