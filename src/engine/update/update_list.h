// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of update rules. A rule is a file of this folder with its options, and one kernel per engine in
// engine/<name>/update/<rule>.cpp. A missing kernel is a link error. Recipes know the rules that have kNames: such a
// rule has visit_options() as well and, where its options can exclude each other, check().
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/update/accumulate.h"
#include "engine/update/adam.h"
#include "engine/update/average.h"
#include "engine/update/lars.h"
#include "engine/update/rms_prop.h"
#include "engine/update/sgd.h"
#include "engine/update/update.h"

/// List of all rules.
#define RG_UPDATE_LIST(X) X(Sgd) X(Adam) X(Lars) X(RmsProp) X(Average) X(Accumulate)

namespace roentgen::engine {

/// A rule that changes parameters by gradients, and has names in recipes.
template <typename Rule>
concept OptimizerRule = requires {
  Rule::kNames;
};

/// Types after the first one.
template <typename, typename... Rules>
struct RuleTypes {
  using Any = std::variant<Rules...>;  ///< one of them
  /// One of each that recipes know.
  using Optimizers = decltype(std::tuple_cat(
      std::declval<std::conditional_t<OptimizerRule<Rules>, std::tuple<Rules>, std::tuple<>>>()...));
};
#define RG_RULE_TYPE(Rule) , Rule
/// RuleTypes of the list.
using AllRuleTypes = RuleTypes<void RG_UPDATE_LIST(RG_RULE_TYPE)>;
#undef RG_RULE_TYPE
/// Options of all rules that recipes know.
using OptimizerRules = AllRuleTypes::Optimizers;
/// One rule of the list, with its options.
using UpdateRule = AllRuleTypes::Any;

/// Names of the state that a rule keeps in arenas laid out as its target, in the order of UpdateWork::state.
[[nodiscard]] inline std::vector<std::string_view> state_of(const UpdateRule& rule) {
  return std::visit([](const auto& one) { return one.state(); }, rule);
}
/// Whether the rule is an OptimizerRule.
[[nodiscard]] inline bool is_optimizer(const UpdateRule& rule) {
  return std::visit([]<typename Rule>(const Rule&) { return OptimizerRule<Rule>; }, rule);
}
/// The rule wants every layer's weights as a range of their own.
[[nodiscard]] inline bool is_layerwise(const UpdateRule& rule) {
  return std::visit([](const auto& one) { return one.kIsLayerwise; }, rule);
}

}  // namespace roentgen::engine
