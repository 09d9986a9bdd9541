// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/optimizer/optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>

#include "core/error.h"
#include "train/field.h"

namespace roentgen::train {
namespace {

using engine::OptimizerRules;
using engine::UpdateRule;

constexpr std::string_view kSeeDefaults = "a value in that range, such as the default that roentgen train --keys shows";

// Throws ConfigError if an option is out of range or two options exclude each other.
template <typename Rule>
void check(const Rule& rule) {
  Rule::visit_options(rule, [](std::string_view key, const auto& value, const auto& range, const auto&...) {
    if constexpr (std::is_same_v<decltype(range), const Range&>) {
      if (range.contains(value)) return;
      throw ConfigError(error_text("train.optimizer", key, range_text(range), fmt::to_string(value), kSeeDefaults));
    }
  });
  if constexpr (requires { rule.check(); }) rule.check();
}

/// Recipe keys of a rule's options, and the keys of its flags that are set.
struct Keys {
  std::vector<std::string_view> all;
  std::vector<std::string_view> set_flags;
};

template <typename Rule>
Keys keys_of(const Rule& rule) {
  Keys keys;
  Rule::visit_options(rule, [&](std::string_view key, const auto& value, const auto&...) {
    keys.all.push_back(key);
    if constexpr (std::is_same_v<decltype(value), const bool&>) {
      if (value) keys.set_flags.push_back(key);
    }
  });
  return keys;
}

// Throws ConfigError if a flag of the rule `other` is set that the optimizer lacks, but only if the two rules share a
// key. Example: Nesterov momentum with LARS, which shares the momentum key with sgd. Flags of unrelated rules are
// ignored.
template <typename Other>
void check_flags(std::string_view optimizer, const Keys& own, const Other& other) {
  const auto is_own = [&](std::string_view key) { return std::ranges::find(own.all, key) != own.all.end(); };
  const Keys keys = keys_of(other);
  if (std::ranges::none_of(keys.all, is_own)) return;
  for (const std::string_view flag : keys.set_flags) {
    if (is_own(flag)) continue;
    const std::string_view name = Other::kNames[0].name;
    throw ConfigError(error_text("train.optimizer", flag, fmt::format("optimizer {}, which has this flag", name),
                                 optimizer, fmt::format("--set optimizer.{}=false, or optimizer.name={}", flag, name)));
  }
}

// Checks the rule and sets `found` to it if `name` is one of its names.
template <typename Rule>
void find_rule(std::string_view name, const OptimizerRules& rules, std::optional<UpdateRule>& found) {
  for (const engine::RecipeName<Rule>& known : Rule::kNames) {
    if (known.name != name) continue;
    Rule rule = std::get<Rule>(rules);
    if (known.form != nullptr) rule.*known.form = true;
    check(rule);
    std::apply([&](const auto&... others) { (check_flags(name, keys_of(rule), others), ...); }, rules);
    found = rule;
  }
}

// Calls visit(RecipeName) for every name of every rule.
template <typename Visit>
void visit_names(const Visit& visit) {
  std::apply([&]<typename... Rules>(const Rules&...) { (std::ranges::for_each(Rules::kNames, visit), ...); },
             OptimizerRules{});
}

}  // namespace

UpdateRule optimizer_rule(std::string_view name, const OptimizerRules& rules) {
  std::optional<UpdateRule> found;
  std::apply([&]<typename... Rules>(const Rules&...) { (find_rule<Rules>(name, rules, found), ...); }, rules);
  if (found) return *found;
  throw ConfigError(error_text("train.optimizer", "name", "a known optimizer", name,
                               fmt::format("one of {}", fmt::join(optimizer_names(), ", "))));
}

std::vector<std::string_view> optimizer_names() {
  std::vector<std::string_view> names;
  visit_names([&](const auto& known) { names.push_back(known.name); });
  return names;
}

std::string optimizer_meanings() {
  std::string text = "optimizer, as in torch.optim";
  visit_names([&](const auto& known) {
    if (!known.meaning.empty()) text += fmt::format("; {}: {}", known.name, known.meaning);
  });
  return text;
}

Optimizer::Optimizer(std::string_view name, const OptimizerRules& rules, engine::Executable& executable)
    : name_(name), rule_(optimizer_rule(name, rules)), executable_(executable) {
  for (std::size_t i = 0; i < engine::state_of(rule_).size(); ++i) {
    state_.push_back(executable.make_arena(engine::ArenaKind::Trained));
    arenas_.push_back(state_.back().get());
  }
}

std::vector<OptimizerState> Optimizer::state() {
  std::vector<OptimizerState> all;
  const std::vector<std::string_view> names = engine::state_of(rule_);
  for (std::size_t i = 0; i < names.size(); ++i) all.push_back({.name = names[i], .arena = *state_[i]});
  return all;
}

std::size_t Optimizer::state_bytes() const {
  std::size_t bytes = 0;
  for (const auto& arena : state_) bytes += arena->size_bytes();
  return bytes;
}

void Optimizer::apply(const Step& step, const engine::Arena& gradients) {
  executable_.update(rule_, {.target = executable_.parameters(),
                             .source = gradients,
                             .state = arenas_,
                             .ranges = step.ranges,
                             .lr = step.lr,
                             .step = step.step,
                             .scale = step.scale,
                             .clip_norm = step.clip_norm,
                             .after = step.after});
}

}  // namespace roentgen::train
