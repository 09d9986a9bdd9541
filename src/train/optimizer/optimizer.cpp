// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/optimizer/optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

#include "core/error.h"

namespace roentgen::train {
namespace {

using engine::OptimizerRules;
using engine::UpdateRule;

template <typename Rule>
UpdateRule rule_of(const OptimizerRules& rules) {
  return std::get<Rule>(rules);
}

UpdateRule decoupled_adam(const OptimizerRules& rules) {
  engine::Adam rule = std::get<engine::Adam>(rules);
  rule.decoupled = true;
  return rule;
}

/// An optimizer as recipes name it.
struct Entry {
  std::string_view name;
  UpdateRule (*make)(const OptimizerRules&);
};

#define RG_OPTIMIZER_ENTRY(Rule) {engine::Rule::kName, &rule_of<engine::Rule>},
constexpr Entry kEntries[] = {RG_OPTIMIZER_LIST(RG_OPTIMIZER_ENTRY){"adamw", &decoupled_adam}};
#undef RG_OPTIMIZER_ENTRY

constexpr std::string_view kSeeDefaults = "a value in that range, such as the default that roentgen train --keys shows";

/// Refuses options out of their range.
struct RangeCheck {
  void operator()(std::string_view option, double value, const Range& range, std::string_view) const {
    if (range.contains(value)) return;
    throw ConfigError(error_text("train.optimizer", option,
                                 fmt::format("at least {} and below {}", range.low, range.high), fmt::to_string(value),
                                 kSeeDefaults));
  }
  void operator()(std::string_view, bool, std::string_view) const {}
};

template <typename Rule>
void check(const Rule& rule) {
  if constexpr (requires { rule.check(); }) {
    Rule::visit_options(rule, RangeCheck{});
    rule.check();
  }
}

// Only sgd has Nesterov's form of momentum.
void check_nesterov(std::string_view name, const OptimizerRules& rules) {
  if ((name != engine::Lars::kName && name != engine::RmsProp::kName) || !std::get<engine::Sgd>(rules).nesterov) return;
  throw ConfigError(error_text("train.optimizer", "nesterov", "sgd with it", name,
                               "--set optimizer.nesterov=false, or optimizer.name=sgd"));
}

}  // namespace

UpdateRule optimizer_rule(std::string_view name, const OptimizerRules& rules) {
  const auto* const entry = std::ranges::find(kEntries, name, &Entry::name);
  if (entry == std::end(kEntries)) {
    throw ConfigError(error_text("train.optimizer", "name", "a known optimizer", name,
                                 fmt::format("one of {}", fmt::join(optimizer_names(), ", "))));
  }
  UpdateRule rule = entry->make(rules);
  std::visit([](const auto& one) { check(one); }, rule);
  check_nesterov(name, rules);
  return rule;
}

std::vector<std::string_view> optimizer_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
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
                             .clip_norm = step.clip_norm});
}

}  // namespace roentgen::train
