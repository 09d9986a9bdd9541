// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of update rules. A rule has a header in this folder with its options, and one kernel per engine in
// engine/<name>/update/<rule>.cpp. A missing kernel is a link error. Recipes know the rules that define kNames. Such a
// rule also defines visit_options(), and check() if some of its options exclude each other.
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

/// List of all update rules.
#define RG_UPDATE_LIST(X) X(Sgd) X(Adam) X(Lars) X(RmsProp) X(Average) X(Accumulate)

namespace roentgen::engine {

/// An update rule that changes parameters by gradients and has names in recipes.
template <typename Rule>
concept OptimizerRule = requires {
  Rule::kNames;
};

/// Types of the update rules. The first argument (void) only absorbs the list's leading comma.
template <typename, typename... Rules>
struct RuleTypes {
  using Any = std::variant<Rules...>;  ///< variant of all rules
  /// Tuple with one object of each rule that recipes know.
  using Optimizers = decltype(std::tuple_cat(
      std::declval<std::conditional_t<OptimizerRule<Rules>, std::tuple<Rules>, std::tuple<>>>()...));
};
#define RG_RULE_TYPE(Rule) , Rule
/// All update rules in the list, as RuleTypes.
using AllRuleTypes = RuleTypes<void RG_UPDATE_LIST(RG_RULE_TYPE)>;
#undef RG_RULE_TYPE
/// Tuple with the options of each rule that recipes know.
using OptimizerRules = AllRuleTypes::Optimizers;
/// One rule of the list, with its options.
using UpdateRule = AllRuleTypes::Any;

/// Names of the state that a rule keeps, one arena each, in the order of UpdateWork::state. The arenas have the layout
/// of the target.
[[nodiscard]] inline std::vector<std::string_view> state_of(const UpdateRule& rule) {
  return std::visit([](const auto& one) { return one.state(); }, rule);
}
/// True if the rule is an OptimizerRule.
[[nodiscard]] inline bool is_optimizer(const UpdateRule& rule) {
  return std::visit([]<typename Rule>(const Rule&) { return OptimizerRule<Rule>; }, rule);
}
/// True if the update rule needs each layer's weights as a separate range.
[[nodiscard]] inline bool is_layerwise(const UpdateRule& rule) {
  return std::visit([](const auto& one) { return one.kIsLayerwise; }, rule);
}

}  // namespace roentgen::engine
